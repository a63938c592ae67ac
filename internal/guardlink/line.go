package guardlink

import (
	"sync/atomic"

	"github.com/rolemanager/rolemanager/internal/protocol/ending"
)

// Line is what one session says to the guard. A nil Line says nothing.
type Line struct {
	tell   func(Message) error
	place  Place
	key    string
	broken func(error)
	said   atomic.Bool // that it is broken
}

// Line returns the line of the session whose lease has the key. broken is called once, when a word
// could not be told.
func (l *Link) Line(at Place, key string, broken func(error)) *Line {
	if l == nil {
		return nil
	}
	return &Line{tell: l.Tell, place: at, key: key, broken: broken}
}

// Writes tells of a write before it is sent, if it is one of the lease.
func (l *Line) Writes(key string, value []byte, marker bool) { l.say(key, value, marker, 0) }

// Wrote tells that a write is known to be stored at a revision.
func (l *Line) Wrote(key string, value []byte, marker bool, revision uint64) {
	l.say(key, value, marker, revision)
}

func (l *Line) say(key string, value []byte, marker bool, revision uint64) {
	if l == nil || key != l.key {
		return
	}
	if word, ok := ending.Said(key, value, marker, revision); ok {
		l.send(word)
	}
}

// Closed tells that the incarnation with the nonce has ended its lease.
func (l *Line) Closed(nonce string) {
	if l != nil {
		l.send(ending.Word{Key: l.key, Nonce: nonce, Closed: true})
	}
}

func (l *Line) send(word ending.Word) {
	if err := l.tell(Message{Place: l.place, Word: word}); err != nil && !l.said.Swap(true) {
		l.broken(err)
	}
}
