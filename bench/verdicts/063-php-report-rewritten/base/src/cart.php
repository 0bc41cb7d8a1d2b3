<?php
function total(array $items): int {
    $result = 0;
    foreach ($items as [$price, $quantity]) {
        $result += $price;
    }
    return $result;
}
