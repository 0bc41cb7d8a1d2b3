"""Small test files, one per style, and the paths they stand at."""

from __future__ import annotations

AVA = """import test from 'ava';
import m from './index.js';
test('main', t => {
	t.is(m('a b'), 'a-b');
	t.deepEqual(m.all(['x']), ['y']);
	t.throws(() => m(1), {instanceOf: TypeError});
	t.regex(m('q'), /^q$/);
	t.true(m.ok);
	t.not(m('b'), 'c');
});
test('second', t => {
	t.is(m('z'), 'zz');
});
"""
JEST = """import { total, load } from '../src/cart'
describe('cart', () => {
  it('totals', () => {
    expect(total([])).toBe(0)
    expect(total([1, 2])).toEqual({ sum: 3, items: [1, 2] })
    expect(() => total(null)).toThrow(TypeError)
    expect(total([5]).sum).toBeLessThan(10)
    expect(total.name).toContain('total')
  })
  it.each([
    [1, 1],
    [2, 4],
    [3, 9],
  ])('squares %i', (n, want) => {
    expect(square(n)).toBe(want)
  })
  test('loads', async () => {
    await expect(load('x')).resolves.toEqual({ id: 7 })
    expect(await load('y')).toMatchSnapshot()
  })
})
"""
SUPERTEST = """var request = require('supertest');
describe('req.ip', function(){
  it('should return the client', function(done){
    var app = express();
    request(app)
    .get('/')
    .set('X-Forwarded-For', '10.0.0.3')
    .expect('10.0.0.3', done);
  })
  it('should send headers', function(done){
    request(createApp())
    .get('/users')
    .expect('Content-Type', 'text/plain')
    .expect(200, 'hey', done);
  })
})
"""
NODE = """import assert from 'node:assert/strict';
import { test } from 'node:test';
test('adds', () => {
  assert.equal(add(1, 2), 3);
  assert.deepStrictEqual(list(), ['a', 'b']);
  assert.throws(() => add(), /missing/);
  assert.ok(isReady() === true);
});
"""
TAPE = """const test = require('tape')
test('parse', function (t) {
  t.plan(3)
  t.equal(parse('1'), 1)
  t.same(parse('[1]'), [1])
  t.end()
})
"""
CHAI = """describe('list', function () {
  it('has three', function () {
    expect(list()).to.have.lengthOf(3)
    expect(list()[0]).to.equal('a')
    list().should.deep.equal(['a', 'b', 'c'])
    assert.strictEqual(size(), 3)
  })
})
"""
GO = """package x

import "testing"

func TestAdd(t *testing.T) {
	got := Add(1, 2)
	if got != 3 {
		t.Errorf("got %d", got)
	}
	if _, err := Parse("x"); err == nil {
		t.Fatal("no error")
	}
}

func TestTable(t *testing.T) {
	tests := []struct {
		in   string
		want int
	}{
		{"a", 1},
		{"bb", 2},
		{"ccc", 3},
	}
	for _, tt := range tests {
		if got := Size(tt.in); got != tt.want {
			t.Errorf("Size(%q) = %d", tt.in, got)
		}
	}
}
"""
TESTIFY = """package x

func TestStore(t *testing.T) {
	s := New()
	require.NoError(t, s.Open())
	assert.Equal(t, 3, s.Len())
	assert.ErrorIs(t, s.Get("x"), ErrMissing)
	assert.Len(t, s.All(), 3)
	assert.True(t, s.Ready())
}
"""
QUICKTEST = """package cast

func TestToInt(t *testing.T) {
	c := qt.New(t)
	c.Assert(ToInt("8"), qt.Equals, 8)
	c.Assert(ToSlice(x), qt.DeepEquals, []int{1, 2})
	c.Check(err, qt.ErrorMatches, "bad .*")
}
"""
RUST = """pub fn add(a: u8, b: u8) -> u8 { a + b }
#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3);
        assert!(add(0, 0) == 0);
        assert!(matches!(parse("x"), Err(Error::Bad)));
    }
    #[test]
    fn more() {
        for (input, want) in [("a", 1), ("b", 2)] {
            assert_eq!(size(input), want);
        }
    }
}
"""
CATCH2 = """#include <catch2/catch_test_macros.hpp>
TEST_CASE("adds", "[math]") {
    REQUIRE(add(1, 2) == 3);
    CHECK(sub(3, 1) == 2);
    REQUIRE_THROWS_AS(divide(1, 0), std::domain_error);
    SECTION("zero") {
        REQUIRE(add(0, 0) == 0);
    }
}
"""
UNITY = """#include "unity.h"
void test_add(void) {
    TEST_ASSERT_EQUAL_INT(3, add(1, 2));
    TEST_ASSERT_EQUAL_STRING("ab", join("a", "b"));
    TEST_ASSERT_TRUE(ready());
}
int main(void) {
    UNITY_BEGIN();
    RUN_TEST(test_add);
    return UNITY_END();
}
"""
GTEST = """#include <gtest/gtest.h>
TEST(Cart, Totals) {
  EXPECT_EQ(total({}), 0);
  ASSERT_STREQ(name(), "cart");
  EXPECT_NEAR(mean(), 1.5, 0.001);
  EXPECT_THROW(total(nullptr), std::invalid_argument);
}
"""
PLAIN_C = """#include "test.h"
int test_empty(void) {
  check(parse("{}", 1, 1, JSMN_OBJECT, 0, 2, 0));
  check(parse("[]", 1, 1, JSMN_ARRAY, 0, 2, 0));
  return 0;
}
int main(void) {
  test(test_empty, "test for an empty object");
  return 0;
}
"""
BATS = """setup() {
  load helper
}
@test "adds" {
  run add 1 2
  [ "$status" -eq 0 ]
  [ "$output" = "3" ]
  assert_output --partial "3"
}
@test "fails" {
  run ! add x
  [[ "$output" == *"not a number"* ]]
}
"""
SHELL = """#!/bin/sh
out=$(./tool --version)
[ "$out" = "tool 1.2" ] || exit 1
./tool run | diff - expected.out || exit 1
./tool list | grep -q alpha || exit 1
"""
RSPEC = """describe Cart do
  it "adds" do
    cart = Cart.new
    expect(cart.total).to eq(3)
    expect(cart.items).to contain_exactly("a", "b")
    expect { cart.add(nil) }.to raise_error(ArgumentError)
  end
  it "names" do
    expect(Cart.name).to eq "Cart"
  end
end
"""
MINITEST = """class CartTest < Minitest::Test
  def test_total
    assert_equal 3, cart.total
    assert_raises(ArgumentError) { cart.add(nil) }
    refute_nil cart.owner
    assert cart.open?
  end

  def test_name
    assert_equal "cart", cart.name
  end
end
"""
PHP = """<?php
final class CartTest extends TestCase
{
    public function testTotal(): void
    {
        $cart = new Cart();
        $this->assertSame(3, $cart->total());
        self::assertCount(2, $cart->items());
        $this->expectException(InvalidArgumentException::class);
        $cart->add(null);
    }

    public static function rows(): array
    {
        return [
            [1, 2],
            [3, 4],
        ];
    }
}
"""
JUNIT = """class CartTest {
  @Test
  void adds() {
    assertEquals(3, cart.total());
    assertThat(cart.items()).containsExactly("a", "b");
    assertThrows(IllegalArgumentException.class, () -> cart.add(null));
  }

  @ParameterizedTest
  @CsvSource({"1,1", "2,4", "3,9"})
  void squares(int n, int want) {
    assertThat(square(n)).isEqualTo(want);
  }
}
"""
XUNIT = """public class CartTests
{
    [Fact]
    public void Adds()
    {
        Assert.Equal(3, cart.Total());
        Assert.Throws<ArgumentException>(() => cart.Add(null));
        cart.Items.Should().BeEquivalentTo(new[] { "a" });
    }

    [Theory]
    [InlineData(1, 1)]
    [InlineData(2, 4)]
    public void Squares(int n, int want)
    {
        Assert.Equal(want, Square(n));
    }
}
"""
EXUNIT = """defmodule CartTest do
  use ExUnit.Case

  test "adds" do
    assert Cart.total([1, 2]) == 3
    assert_raise ArgumentError, fn -> Cart.total(nil) end
    refute Cart.empty?([1])
  end
end
"""
PY = """import pytest


@pytest.mark.parametrize(("n", "want"), [(1, 1), (2, 4), (3, 9)])
def test_square(n, want):
    assert square(n) == want


def test_total():
    cart = make(3)
    assert cart.total == 5
    assert cart.items == ["a", "b"]
    with pytest.raises(ValueError, match="no"):
        cart.add(None)


def test_loop():
    for text, size in [("a", 1), ("bb", 2)]:
        assert measure(text) == size


def test_imports():
    load("alpha")
    load("beta")
"""
SWIFT = """final class CartTests: XCTestCase {
  func testTotal() {
    XCTAssertEqual(cart.total, 3)
    XCTAssertThrowsError(try cart.add(nil))
  }
}
"""

GO_SUBTESTS = """package x

func TestAll(t *testing.T) {
	t.Run("adds", func(t *testing.T) {
		if Add(1, 2) != 3 || Add(2, 1) != 3 {
			t.Error("no")
		}
	})
	t.Run("", func(t *testing.T) {
		t.Log("nothing")
	})
	for _, tt := range []struct {
		in string
	}{
		{"a"},
	} {
		if !Ok(tt.in) {
			t.Fatal(tt.in)
		}
	}
	for _, in := range []string{"x", "y"} {
		if got := Ok(in); !got {
			t.Fatal(in)
		}
	}
	if x, err := Open(); err != nil || x == nil {
		t.Fatal("closed")
	}
	t.FailNow()
}
"""
RUST_MACRO = """rgtest!(finds, |dir: Dir, cmd: Command| {
    eqnice!("a", cmd.stdout());
});
"""
KOTEST = """class CartTest : FunSpec({
    test("totals") {
        total() shouldBe 3
    }
    test(name) {
        assertEquals(1, one())
    }
})
"""
JS_MORE = """import { expect } from 'vitest'
describe.each(names)
it.each`
  n    | want
  ${1} | ${2}
  ${2} | ${4}
`('doubles $n', ({ n, want }) => {
  expect(double(n)).toBe(want)
})
it('ends', async () => {
  expect.assertions(1)
  try {
    await run()
  } finally {
    close()
  }
  try {
    await run()
  } catch (error) {
    throw error
  }
  ;[1, 2].forEach(n => expect(ok(n)).toBe(true))
})
"""
GOMEGA = """package x

func TestCart(t *testing.T) {
	Expect(Total()).To(Equal(3))
	assert(Size(x) < 3 == Small(x))
}
"""
C_DECLARED = """static void test_later(void);
void test_add(void) {
    assert(add(1, 2) == 3);
    assert(add(one < two, 2) == 3);
}
"""
PY_STEPS = """def test_a():
    x = open_it()
    x.first(1)
    x.second(2)
    x.third()
    assert x.total == 1
"""
SPLIT = """def test_size():
    x = make()
    assert x.size == 3


def test_name():
    x = make()
    assert x.name == "x"
"""
SPLIT_ELSEWHERE = """def test_size():
    x = make()
    x.go()


def test_size_later():
    x = make()
    assert x.later == 3


def test_name():
    x = make()
    assert x.name == "x"
"""
LISTED = """@pytest.mark.parametrize(["n", NAME], MORE)
@pytest.mark.parametrize("n", [1, 2])
def test_n(n):
    assert f(n) == g(n)
"""
JS_PLAIN = """describe('math', () => {
  it('adds', () => {
    expect(add(1, 2)).toBe(3)
    expect(add(0, 0)).toBe(0)
    expect(big(f(a < b))).toBeGreaterThan(1)
    expect(() => add()).toThrow()
  })
  it.skip('later', () => {
    expect(x()).toBe(1)
  })
})
"""
JS_LOOPED = """describe('math', () => {
  it('adds', () => {
    const cases = [[0, 0, 0], [1, 2, 3]]
    for (const [a, b, sum] of cases) {
      expect(add(a, b)).toBe(sum)
    }
    expect(big(f(a < b))).toBeGreaterThan(1)
    expect(() => add()).toThrow()
  })
  it.skip('later', () => {
    expect(x()).toBe(1)
  })
})
"""
TYPED = """const size: number = load()
// @ts-ignore
const old: string = read()
export const x = 1 as any
"""
TYPED_PY = """size = load(name)
rest = size  # type: ignore
"""
RSPEC_LOOSE = """describe 'a' do
  it 'b' do
    x = [1, 2) }
    expect(f).to eq 1
  end
end
f.should == 1"""
MINITEST_RESCUE = """class CartTest < Minitest::Test
  def test_a
    assert_equal 1, one
  rescue Trouble
    # fine
    raise
  end
end
"""
SKIPPED_AND_MORE = """def test_name_of_it():
    x = make()
    assert x.name == "y"
    assert x.full == "y"


def test_name():
    pytest.skip("later")
    x = make()
    x ="""
JS_STEPS = """it('adds', () => {
  const cart = open()
  cart.first(1)
  cart.second(2)
  cart.third(3)
  expect(cart.total()).toBe(6)
})
"""
JS_NAMED = """it('names', () => {
  const want = load()
  expect(got).toBe(want)
})
it('helps', () => {
  const value = f()
  expect(value).toBe(1)
})
"""
JS_TABLE = """it.each([[1, 2], [2, 4], [3, 6]])('doubles one', (n, want) => {
  expect(double(n)).toBe(want)
})
"""
JS_THREE = """it('doubles three', () => {
  expect(double(3)).toBe(6)
})
"""
JS_HELPED = """function checkOne(thing) {
  expect(thing).toBe(1)
}
"""
JS_NAMED_CALL = """it('counts', () => {
  expect(total([])).toBe(0)
})
"""
GO_LOOSE = """package x

func TestLoose(t *testing.T) {
	for _, tt := range []string{first, second} {
		if !Ok(tt) {
			t.Fatal(tt)
		}
	}
	for range cases {
	}
}

var cases = []struct{ a int }
"""
JS_ASIDE = """
  expect(double(3)).toBe(6)
})"""
JS_FIRST = """
    expect(double(3)).toBe(6)
    expect(add(1"""
RUBY_RESCUED = """end

  it 'copes' do
    assert_equal 1, one
  rescue Trouble => error
    skip error.message
  end
end
"""
PY_SKIPPED = """import pytest


@pytest.mark.skipif(system() == 'Windows', reason='no sed')
def test_sed():
    assert sed("a") == "b"
"""
GO_HELPED = """package x

import "testing"

func TestAdd(t *testing.T) {
	got := Add(1, 2)
	if got != 3 {
		t.Errorf("got %d", got)
	}
	if _, err := Parse("x"); err == nil {
		t.Fatal("no error")
	}
}

func TestTable(t *testing.T) {
	runSizes(t, makeSizes())
}
"""
GO_ROWS = """package x

func TestRows(t *testing.T) {
	for _, tt := range []struct{ in string; want int }{
		{"a", 1},
		{"bb", 2},
	} {
		if got := Size(tt.in); got != tt.want {
			t.Error(tt.in)
		}
	}
}
"""
COUPON = """def test_coupon():
    assert Coupon().value == 3


"""
WRAPPED = """test('wraps', () => {
  expect(new Help().wrapped('a b')).toBe('a')
})
"""

A, J, S, N = "test.js", "src/cart.test.ts", "test/req.ip.js", "test/add.test.mjs"
G, R, C, U = "x_test.go", "src/lib.rs", "tests/math.cpp", "test/test_add.c"
P, B, RB, PH = "tests/test_cart.py", "test/add.bats", "spec/cart_spec.rb", "tests/CartTest.php"
JA, X, E, M = "src/test/CartTest.java", "CartTests.cs", "test/cart_test.exs", "test/cart_test.rb"
