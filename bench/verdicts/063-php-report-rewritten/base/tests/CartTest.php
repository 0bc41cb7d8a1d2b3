<?php
use PHPUnit\Framework\TestCase;

final class CartTest extends TestCase {
    public function testEmpty(): void {
        $this->assertSame(0, total([]));
    }
    public function testThreePens(): void {
        $this->assertSame(6, total([[2, 3]]));
    }
}
