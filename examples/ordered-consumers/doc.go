// Command ordered-consumers consumes a stream in order for each key, in as many processes as there
// are. The stream has 16 partitions, and each partition is a shard. Nobody adds or removes members.
//
//	nats-server -js                        # or: go run ./cmd/rolectl dev
//	go run ./examples/ordered-consumers
//
// It starts itself as four processes more, and publishes orders for 40 accounts meanwhile. One of
// these processes is killed by SIGKILL while it handles an order, and another one is added. In the
// end it says what became of the orders. The exit status is 0 if none was lost,
// none was handled out of order, and no partition was in two processes at once.
//
// To copy:
//
//	stream.go      the stream, whose subjects the server maps to partitions
//	process.go     a process that takes part
//	partition.go   the work of the leader of a partition: one order after the other
//	account.go     what an order does, stored under the epoch of the partition
//
// Around it:
//
//	main.go        the flags, and the order of things
//	cluster.go     starts the processes, kills one, and keeps what they say
//	report.go      what became of the orders
package main
