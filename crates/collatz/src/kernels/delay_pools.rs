//! delay_pools
