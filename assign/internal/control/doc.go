// Package control is the wire format between the scheduler and the clients that ask about tasks.
//
//	Query ──► <namespace>.ctl ──► scheduler ──► Answer, to the reply subject
//	worker ──► the answer to a sync, in Parts when one message cannot hold it
//
// A Query and an Answer are JSON. Everything that is read here may come from a stranger: reading
// takes memory in proportion to the bytes that came.
package control
