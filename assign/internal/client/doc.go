// Package client submits tasks, waits for them, looks at them and steers them. It knows no types of
// inputs and outputs: package assign adds them.
//
//   - submit, unique, steer and recur make conditional writes to the stream.
//   - read, list and recurrences read records of the stream.
//   - ask, status and watch send questions to the scheduler.
//   - wait listens for announcements, and reads the record now and then.
//
// # Promises
//
//   - A write whose acknowledgement is lost is sent again under the same condition: it is stored
//     once, and a copy that arrives late undoes nothing.
//   - Submissions that were in a bundle go alone only if it is sure that it is never stored. So a
//     task is stored once.
//   - A caller that waits reads the record after every reconnect and now and then, so that a lost
//     announcement delays it and no more.
package client
