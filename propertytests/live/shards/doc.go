// Package shards plays processes that lead the shards of one group: they start together, one is
// killed, and all are restarted, one after the other. The bucket tells who has led each shard.
//
//	go test -tags realtime -run Spread ./propertytests/live/shards -v
//	go test -tags realtime -run Spread ./propertytests/live/shards -v -shards 1000 -processes 20
package shards
