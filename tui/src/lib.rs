//! Empty for the moment.
