import shop.cart
