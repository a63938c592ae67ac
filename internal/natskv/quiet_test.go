package natskv

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// quiet is a writer in a bubble whose writes are submitted by SubmitHeard.
type quiet struct {
	*Writer
	link    *natsrun.Link
	answers *nats.Subscription // what the server answers, as another client sees it
}

const quietTimeout = 5 * time.Second

func inQuiet(t *testing.T, run func(t *testing.T, q quiet)) {
	inBubble(t, func(t *testing.T, b *Bucket, nc *nats.Conn, link *natsrun.Link) {
		w, err := NewWriter(nc, b)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		answers, err := nc.SubscribeSync(w.inbox + "*")
		if err != nil {
			t.Fatal(err)
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		run(t, quiet{w, link, answers})
	})
}

// submit submits a write; its result comes in the channel.
func (q quiet) submit(key string) (number uint64, result <-chan Result) {
	done := make(chan Result, 2) // two would be one too many
	number = q.Reserve()
	q.SubmitHeard(number, Write{Key: key}, quietTimeout, func(r Result) { done <- r })
	return number, done
}

// submitMany submits writes while no answer comes, so that the first asks and the others are quiet.
func (q quiet) submitMany(n int) (numbers []uint64, results []<-chan Result) {
	q.link.Hold(natsrun.ToClient)
	for i := range n {
		number, result := q.submit(fmt.Sprint("k.", i))
		numbers, results = append(numbers, number), append(results, result)
	}
	return numbers, results
}

func result(t *testing.T, from <-chan Result) Result {
	t.Helper()
	select {
	case r := <-from:
		return r
	case <-time.After(time.Hour):
		t.Fatal("a write was never ended")
		return Result{}
	}
}

// TestQuietWrites: one write of a round asks; the others end when they are heard of, and the server answers none of them.
func TestQuietWrites(t *testing.T) {
	inQuiet(t, func(t *testing.T, q quiet) {
		numbers, results := q.submitMany(100)
		for _, number := range numbers[1:] {
			q.Heard(number)
			q.Heard(number) // a copy may come twice
		}
		for i, r := range results[1:] {
			if r := result(t, r); r.Outcome != Won || r.Err != nil {
				t.Errorf("write %d: %+v", i+1, r)
			}
		}
		q.link.Release()
		if r := result(t, results[0]); r.Outcome != Won || r.Revision == 0 {
			t.Errorf("the write that asked: %+v", r)
		}
		time.Sleep(time.Minute)
		if n, _, _ := q.answers.Pending(); n != 1 {
			t.Errorf("%d answers to 100 writes, want 1", n)
		}
		for i, r := range results {
			if len(r) > 0 {
				t.Errorf("write %d was ended twice: %+v", i, <-r)
			}
		}
	})
}

// TestQuietWritesOneByOne: who submits one write at a time gets an answer to each.
func TestQuietWritesOneByOne(t *testing.T) {
	inQuiet(t, func(t *testing.T, q quiet) {
		for i := range 10 {
			_, r := q.submit(fmt.Sprint("k.", i))
			if r := result(t, r); r.Outcome != Won || r.Revision == 0 {
				t.Errorf("write %d: %+v", i, r)
			}
			_, r = q.submit(fmt.Sprint("k.", i))
			if r := result(t, r); r.Outcome != Refused {
				t.Errorf("write %d again: %+v, want refused", i, r)
			}
		}
	})
}

// TestQuietWritesUnheardOf: what nothing is heard of ends as Unknown soon after the one that asked was answered, not when its
// own time is over; the next one asks. Whoever asks then learns what became of it.
func TestQuietWritesUnheardOf(t *testing.T) {
	inQuiet(t, func(t *testing.T, q quiet) {
		_, results := q.submitMany(3)
		time.Sleep(time.Second)
		q.link.Release()
		answered := time.Now()
		if r := result(t, results[0]); r.Outcome != Won {
			t.Errorf("the write that asked: %+v", r)
		}
		for i, r := range results[1:] {
			if r := result(t, r); r.Outcome != Unknown || !errors.Is(r.Err, ErrUnheard) || Permanent(r.Err) {
				t.Errorf("write %d: %+v", i+1, r)
			}
		}
		if d := time.Since(answered); d < 2*time.Second || d > 3*time.Second {
			t.Errorf("they were ended %v after an answer that took a second, want twice that", d)
		}
		for i := 1; i < 3; i++ {
			_, r := q.submit(fmt.Sprint("k.", i))
			if r := result(t, r); r.Outcome != Refused {
				t.Errorf("write %d, submitted again: %+v, want refused: it is there", i, r)
			}
		}
	})
}

// TestQuietWritesOfTheDeaf: who hears of nothing waits for one round; from then on every write asks, until something is heard.
func TestQuietWritesOfTheDeaf(t *testing.T) {
	inQuiet(t, func(t *testing.T, q quiet) {
		answers := func() int { n, _, _ := q.answers.Pending(); return n }
		for i, asked := range []int{1, 101, 102} {
			numbers, results := q.submitMany(100)
			if i == 1 {
				q.Heard(numbers[0])
			}
			q.link.Release()
			for _, r := range results {
				result(t, r)
			}
			time.Sleep(time.Minute)
			if n := answers(); n != asked {
				t.Errorf("%d answers after round %d of 100 writes, want %d", n, i+1, asked)
			}
		}
	})
}

// TestQuietWritesWithoutAnyAnswer: all end by themselves when nothing is answered at all.
func TestQuietWritesWithoutAnyAnswer(t *testing.T) {
	inQuiet(t, func(t *testing.T, q quiet) {
		began := time.Now()
		_, results := q.submitMany(3)
		if r := result(t, results[0]); r.Outcome != Unknown || !errors.Is(r.Err, ErrTimeout) {
			t.Errorf("the write that asked: %+v", r)
		}
		for i, r := range results[1:] {
			if r := result(t, r); r.Outcome != Unknown || !errors.Is(r.Err, ErrUnheard) {
				t.Errorf("write %d: %+v", i+1, r)
			}
		}
		if d := time.Since(began); d > 2*quietTimeout {
			t.Errorf("the last one ended after %v, want twice the timeout at most", d)
		}
	})
}

// TestQuietWritesOfAClosedWriter: all end with it, and what is submitted later ends at once.
func TestQuietWritesOfAClosedWriter(t *testing.T) {
	inQuiet(t, func(t *testing.T, q quiet) {
		_, results := q.submitMany(3)
		q.Stop()
		for range 2 {
			_, r := q.submit("later")
			results = append(results, r)
		}
		for i, r := range results {
			if r := result(t, r); r.Outcome != Unknown || !errors.Is(r.Err, ErrClosed) {
				t.Errorf("write %d: %+v", i, r)
			}
		}
		q.link.Release()
	})
}

// TestQuietWritesTooLarge: one that cannot be published ends at once, also the one that asks.
func TestQuietWritesTooLarge(t *testing.T) {
	inQuiet(t, func(t *testing.T, q quiet) {
		for range 3 {
			done := make(chan Result, 1)
			q.SubmitHeard(q.Reserve(), Write{Key: "k", Value: make([]byte, q.nc.MaxPayload()+1)}, time.Hour, func(r Result) { done <- r })
			if r := result(t, done); r.Outcome != Unknown || !errors.Is(r.Err, nats.ErrMaxPayload) {
				t.Errorf("%+v", r)
			}
		}
		_, r := q.submit("k")
		if r := result(t, r); r.Outcome != Won {
			t.Errorf("after it: %+v", r)
		}
	})
}
