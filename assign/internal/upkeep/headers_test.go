package upkeep

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// tasksStored is a stream with so many records, q.0 and so on.
func tasksStored(t *testing.T, n int) (cfg Config, store func(key string)) {
	nc := natstest.Connect(t, natstest.Server(t))
	s, err := stream.Open(t.Context(), nc, stream.Options{
		Namespace: "work", AutoCreate: true, Storage: jetstream.MemoryStorage, Replicas: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	store = func(key string) {
		if _, err := nc.Request(record.Stored(s.Name())+key, nil, 10*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		store(fmt.Sprint("q.", i))
	}
	return Config{Conn: nc, Stream: s}, store
}

// TestSweepsReadAllOnce: a sweep reads each record once, in order, in however many goes, and none
// that comes later where it has an end. It continues when the server has forgotten it.
func TestSweepsReadAllOnce(t *testing.T) {
	const records = 20
	for _, x := range []struct {
		name     string
		pages    int
		goFactor int
		ends     bool // at the last revision that was there when it began
		forget   bool
		goes     int // at least, and no more unless there are several by their pages
	}{
		{"in one go", math.MaxInt, 0, false, false, 1},
		{"in one go, to the last one", math.MaxInt, 0, true, false, 1},
		{"in a go far longer than its begin", 1, 1 << 20, true, false, 1},
		{"in several goes", 2, 0, true, false, 4},
		{"forgotten on its way", math.MaxInt, 0, true, true, 2},
	} {
		t.Run(x.name, func(t *testing.T) {
			cfg, store := tasksStored(t, records)
			s := newSweep(cfg, record.QueueKey)
			s.page, s.pages, s.goFactor, s.restFactor = 3, x.pages, x.goFactor, 1
			var want, got []string
			for i := range records {
				want = append(want, fmt.Sprint("q.", i))
			}
			if x.ends {
				last, err := cfg.Stream.Last(t.Context(), cfg.Conn)
				if err != nil {
					t.Fatal(err)
				}
				s.until = last
			}
			begun, from := goes(t, cfg.Conn), time.Now()
			if err := s.run(t.Context(), func(e *natskv.Entry) error {
				got = append(got, e.Key)
				if x.ends && len(got) == 1 {
					store("q.0")
				}
				if x.forget && len(got) == 4 {
					forget(t, cfg)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			if s.rest <= 0 || s.rest > time.Since(from) {
				t.Errorf("a rest of %v after %v", s.rest, time.Since(from))
			}
			several := x.pages < math.MaxInt && x.goFactor == 0
			if n := begun(); n < x.goes || n > x.goes && !several {
				t.Errorf("%d goes, want %d", n, x.goes)
			}
		})
	}
}

// TestPresentReadsWhatWasThere: the headers of the tasks that are there now have an end, though
// tasks are replaced meanwhile. The rest after it goes by the time of the reading.
func TestPresentReadsWhatWasThere(t *testing.T) {
	const records = 20
	for _, factor := range []int{firstRestFactor, restFactor} {
		cfg, store := tasksStored(t, records)
		var first, last time.Time
		read, from := 0, time.Now()
		rest, err := present(t.Context(), cfg, factor, func(e *natskv.Entry) error {
			if read++; read > records {
				return fmt.Errorf("%s comes after the end", e.Key)
			}
			if last = time.Now(); first.IsZero() {
				first = last
			}
			store(e.Key)
			return nil
		})
		took := time.Since(from)
		if err != nil || read != records {
			t.Fatalf("%d records of %d: %v", read, records, err)
		}
		n := time.Duration(factor)
		if rest < n*last.Sub(first) || rest > n*took {
			t.Errorf("a rest of %v, want %d times the %v to %v of the reading", rest, factor, last.Sub(first), took)
		}
	}
}

// TestFirstCountRestsLess: until it has ended, no gauge shows the dead tasks of a term.
func TestFirstCountRestsLess(t *testing.T) {
	cfg, _ := tasksStored(t, 20)
	d, from := deadTasks{Config: cfg}, time.Now()
	_, rest, err := d.look(t.Context(), from)
	if took := time.Since(from); err != nil || rest <= 0 || rest > firstRestFactor*took {
		t.Errorf("a rest of %v after %v, %v", rest, took, err)
	}
}

// goes counts the goes that begin from now on.
func goes(t *testing.T, nc *nats.Conn) func() int {
	sub, err := nc.SubscribeSync("$JS.API.CONSUMER.CREATE.>")
	if err != nil {
		t.Fatal(err)
	}
	return func() int {
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		n, _, err := sub.Pending()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
}

// forget has the server forget all readings.
func forget(t *testing.T, cfg Config) {
	js, err := jetstream.New(cfg.Conn)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), cfg.Stream.Name())
	if err != nil {
		t.Fatal(err)
	}
	names := s.ConsumerNames(t.Context())
	for name := range names.Name() {
		if err := s.DeleteConsumer(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	if err := names.Err(); err != nil {
		t.Fatal(err)
	}
}
