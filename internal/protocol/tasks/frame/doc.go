// Package frame is the wire format between the scheduler of tasks and its workers. It does no I/O.
//
// The scheduler sends assign, stop and sync to a worker, under an Envelope (frame.go), and settled
// (reply.go). A worker sends answer, synced and report (reply.go). The envelope is proven by a
// signature or by a key that the two share (proof.go, sharedkey.go).
//
// A worker judges the envelope of each frame by the leader in its view (addressee.go). It never
// believes a frame about an epoch. wire.go has the encoder and the decoder of fields. No input
// makes a decoder panic, or take more memory than a multiple of its size.
package frame
