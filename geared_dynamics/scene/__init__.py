"""What an arm looks like: shapes, where they are at a position, and a page that shows them."""
