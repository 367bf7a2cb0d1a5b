"""What the tests from outside share: PostgreSQL, brokers, workers and clients."""
