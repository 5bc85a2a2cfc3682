"""Any program with sparse rows over factors: a primal-dual interior point."""
