// Package control is the wire format between the scheduler and the clients that ask about tasks.
//
// A client sends a Query to <namespace>.ctl, and the scheduler sends an Answer to the reply
// subject. A worker answers a sync in Parts when one message cannot hold the answer.
//
// A Query and an Answer are JSON. Everything that is read here may come from a stranger: reading
// takes memory in proportion to the bytes that came.
package control
