"""What a table or a figure needs: datasets, models and metrics put together."""
