// Package reach remembers which workers the messages of a scheduler do not reach, by instance: such
// a worker may open one session after the other, and none of them hears anything.
//
// Promises: an instance that is lost is asked at growing intervals, and a new session of it at
// once. It counts as found when it answers; it is forgotten, and its intervals begin again, only
// when it has answered a frame of tasks. The book does not grow without bound.
//
// Begin reading in book.go.
package reach
