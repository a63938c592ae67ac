package natsrun

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// TestStreamKeepsOrder: bytes are held, delayed and read in pieces. Exactly the bytes that were put
// are taken, and then the end.
func TestStreamKeepsOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 60).Draw(rt, "steps")
		seed := rapid.Uint64().Draw(rt, "seed")
		var problem error
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // for the race detector: see natstest.Virtual
		synctest.Test(t, func(*testing.T) { problem = streamSteps(steps, rand.New(rand.NewPCG(seed, 0))) })
		if problem != nil {
			rt.Fatal(problem)
		}
	})
}

func streamSteps(steps []int, rng *rand.Rand) error {
	s := newStream(true)
	var put bytes.Buffer
	taken := make(chan []byte, 1)
	from := takerOf{s, rand.New(rand.NewPCG(rng.Uint64(), 0))}
	go func() {
		got, _ := io.ReadAll(from)
		taken <- got
	}()
	f := fault{}
	for _, step := range steps {
		switch step {
		case 0:
			f.hold = !f.hold
			s.impose(f)
		case 1:
			f.delay = time.Duration(rng.IntN(100)) * time.Millisecond
			s.impose(f)
		case 2:
			time.Sleep(time.Duration(rng.IntN(50)) * time.Millisecond)
		default:
			p := make([]byte, rng.IntN(2*grain))
			for i := range p {
				p[i] = byte(rng.Uint32())
			}
			put.Write(p)
			if n, err := s.put(p, nil); n != len(p) || err != nil {
				return errors.Join(errors.New("put"), err)
			}
		}
	}
	s.finish()
	s.impose(fault{})
	got := <-taken
	if waiting, dropped := s.traffic(); waiting != 0 || dropped != 0 || s.lossy {
		return errors.New("bytes are left or lost")
	}
	if !bytes.Equal(got, put.Bytes()) {
		return errors.New("what was taken is not what was put")
	}
	return nil
}

// takerOf reads a stream in pieces of random size.
type takerOf struct {
	s   *stream
	rng *rand.Rand
}

func (r takerOf) Read(p []byte) (int, error) { return r.s.take(p[:1+r.rng.IntN(len(p))], nil) }

// TestStreamBoundsItsQueue: neither steady traffic nor steady delay lets the queue's array grow.
func TestStreamBoundsItsQueue(t *testing.T) {
	s := newStream(true)
	buf := make([]byte, 64)
	for range 100_000 {
		if _, err := s.put(buf, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := s.take(buf, nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := cap(s.queue); n > 128 {
		t.Fatalf("an empty queue has room for %d chunks", n)
	}
}

// TestHandshakeEnd: the PONG is found in any pieces, once, and only as a line of its own.
func TestHandshakeEnd(t *testing.T) {
	const said = "INFO {\"x\":\"PONG\"}\r\n+OK\r\nPONG\r\nPONG\r\nMSG a 1 0\r\n\r\n"
	const end = len("INFO {\"x\":\"PONG\"}\r\n+OK\r\nPONG\r\n")
	for size := 1; size <= len(said); size++ {
		var h handshake
		found := 0
		for at := 0; at < len(said); at += size {
			next := min(at+size, len(said))
			if h.read([]byte(said[at:next])) {
				found++
				if at >= end || next < end {
					t.Fatalf("pieces of %d: found in [%d,%d), the end is at %d", size, at, next, end)
				}
			}
		}
		if found != 1 {
			t.Fatalf("pieces of %d: found %d times", size, found)
		}
	}
}
