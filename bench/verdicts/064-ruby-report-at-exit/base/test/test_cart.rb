require 'minitest/autorun'
require_relative '../lib/cart'

class CartTest < Minitest::Test
  def test_empty
    assert_equal 0, total([])
  end

  def test_three_pens
    assert_equal 6, total([[2, 3]])
  end
end
