package reach

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

const start = record.Instant(time.Hour)

func book() *Book {
	return NewBook(Config{First: 10 * time.Millisecond, Most: time.Second, Tell: 3 * time.Second})
}

// TestIntervals: they double up to the most, and begin again only with an instance that has
// answered a frame of tasks.
func TestIntervals(t *testing.T) {
	b := book()
	now := start
	asked := func(within time.Duration) (n int) {
		for end := now.Add(within); now < end; now = now.Add(time.Millisecond) {
			if b.Ask(now, "w", 7) {
				n++
			}
		}
		return n
	}
	b.Lose(now, "w", 7)
	if n := asked(time.Second); n != 7 { // after 10, 20, 40 … 640 ms
		t.Errorf("asked %d times in the first second", n)
	}
	b.Find("w", 7, false)
	if n := asked(time.Second); n != 0 {
		t.Errorf("asked %d times, and it was found", n)
	}
	b.Lose(now, "w", 7)
	if n := asked(10 * time.Second); n < 9 || n > 11 {
		t.Errorf("asked %d times in ten seconds after it was lost again", n)
	}
	b.Find("w", 7, true)
	b.Lose(now, "w", 7)
	if n := asked(time.Second); n != 7 {
		t.Errorf("asked %d times in a second after it had taken a frame", n)
	}
}

// TestSessions: a former session of an instance neither finds nor asks for the present one.
func TestSessions(t *testing.T) {
	b := book()
	b.Lose(start, "w", 7)
	if !b.Open(start, "w", 9) || b.Ask(start, "w", 7) || !b.Ask(start, "w", 9) {
		t.Error("the later session is not the one that is asked at once")
	}
	b.Find("w", 7, true)
	if !b.Open(start, "w", 11) {
		t.Error("it was found by an answer of its former session")
	}
	if b.Open(start, "other", 12) {
		t.Error("an instance that was never lost is lost")
	}
	if b.Find("w", 11, false); b.Open(start, "w", 13) {
		t.Error("it is lost, and has answered")
	}
}

// TestTold: an instance is told of when it has been lost for long, and a new session has as long.
func TestTold(t *testing.T) {
	b := book()
	b.Lose(start, "w", 7)
	if _, is := b.Tell(start.Add(2*time.Second), "w", 7); is {
		t.Error("told of too early")
	}
	b.Open(start.Add(2*time.Second), "w", 9)
	if _, is := b.Tell(start.Add(4*time.Second), "w", 9); is {
		t.Error("a new session is told of before it could answer")
	}
	for i, at := range []time.Duration{5, 8, 14, 26} {
		now := start.Add(at * time.Second)
		if due := b.Due("w", 9); due > now {
			t.Errorf("due at %v", due)
		}
		if times, is := b.Tell(now, "w", 9); !is || times != i+1 {
			t.Errorf("at %d s: %d %t", at, times, is)
		}
	}
}

// TestASessionIsNotToldOfForAnEarlierOne: the next session of an instance counts as told of only
// when it was.
func TestASessionIsNotToldOfForAnEarlierOne(t *testing.T) {
	b := book()
	b.Lose(start, "w", 7)
	if _, is := b.Tell(start.Add(3*time.Second), "w", 7); !is || !b.Told("w", 7) {
		t.Fatal("not told of")
	}
	b.Open(start.Add(4*time.Second), "w", 9)
	if b.Told("w", 9) {
		t.Error("a session counts as told of for an earlier one")
	}
	if _, is := b.Tell(start.Add(7*time.Second), "w", 9); !is || !b.Told("w", 9) {
		t.Error("it is told of, and does not count so")
	}
}

// TestBounded: instances that do not come back are forgotten, and one that is asked is not.
func TestBounded(t *testing.T) {
	b := book()
	now := start
	b.Lose(now, "stays", 1)
	for i := range 3 * maxEntries {
		now = now.Add(time.Second)
		b.Ask(now, "stays", 1)
		b.Lose(now, fmt.Sprint("w", i), uint64(i+2))
	}
	if n := len(b.list); n > 2*maxEntries || !b.Open(now, "stays", 5) {
		t.Errorf("%d are remembered", n)
	}
}
