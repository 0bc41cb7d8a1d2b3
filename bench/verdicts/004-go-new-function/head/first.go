package shop

func First(items []Item) Item { return items[0] }
