// Package shardcount keeps how many shards a group of roles has, in the bucket. A process that maps
// keys to another number of shards would lead one key beside another process.
package shardcount
