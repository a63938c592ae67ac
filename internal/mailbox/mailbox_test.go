package mailbox

import (
	"runtime"
	"sync"
	"testing"
	"time"
	"weak"
)

// collect drains until the mailbox is closed and empty.
func collect[T any](m *Mailbox[T], each func(T)) {
	var buf []T
	for range m.Ready() {
		last := m.Closed() // read before the drain: nothing can be put after it
		buf = m.Drain(buf)
		for _, v := range buf {
			each(v)
		}
		if last {
			return
		}
	}
}

func TestEveryValueArrivesInItsProducersOrder(t *testing.T) {
	type item struct{ producer, n int }
	const producers, each = 8, 5_000
	m := New[item]()

	var consumer sync.WaitGroup
	next := make([]int, producers)
	consumer.Go(func() {
		collect(m, func(v item) {
			if v.n != next[v.producer] {
				t.Errorf("producer %d: got %d, want %d", v.producer, v.n, next[v.producer])
			}
			next[v.producer] = v.n + 1
		})
	})

	var all sync.WaitGroup
	for p := range producers {
		all.Go(func() {
			for n := range each {
				if !m.Put(item{p, n}) {
					t.Error("Put on an open mailbox returned false")
				}
			}
		})
	}
	all.Wait()
	m.Close()
	consumer.Wait()
	for p, n := range next {
		if n != each {
			t.Errorf("producer %d: %d of %d values arrived", p, n, each)
		}
	}
}

func TestCloseKeepsWhatIsQueued(t *testing.T) {
	m := New[int]()
	m.Put(1)
	m.Put(2)
	m.Close()
	m.Close()
	if m.Put(3) {
		t.Error("Put after Close returned true")
	}
	if !m.Closed() {
		t.Error("Closed is false after Close")
	}
	<-m.Ready()
	if got := m.Drain(nil); len(got) != 2 || got[0] != 1 || got[1] != 2 {
		t.Errorf("drained %v, want [1 2]", got)
	}
}

func TestPutAfterADrainWakesAgain(t *testing.T) {
	m := New[int]()
	var buf []int
	for i := range 100 {
		m.Put(i)
		<-m.Ready()
		if buf = m.Drain(buf); len(buf) != 1 || buf[0] != i {
			t.Fatalf("round %d drained %v", i, buf)
		}
	}
}

func TestABurstGivesItsMemoryBack(t *testing.T) {
	m := New[*[1 << 10]byte]()
	first := new([1 << 10]byte)
	seen := weak.Make(first)
	m.Put(first)
	first = nil
	for range 10 * keep {
		m.Put(new([1 << 10]byte))
	}
	buf := m.Drain(nil)
	if len(buf) != 10*keep+1 {
		t.Fatalf("drained %d values", len(buf))
	}
	buf = m.Drain(buf) // hands the large buffer back, which must be dropped
	m.Put(nil)
	buf = m.Drain(buf)
	if c := cap(buf); c > keep {
		t.Errorf("a buffer of %d values is kept after the burst, want at most %d", c, keep)
	}
	deadline := time.Now().Add(10 * time.Second)
	for seen.Value() != nil {
		if time.Now().After(deadline) {
			t.Fatal("a drained value is still reachable")
		}
		runtime.GC()
	}
	runtime.KeepAlive(m)
}

func BenchmarkPutDrain(b *testing.B) {
	m := New[int]()
	var buf []int
	b.ReportAllocs()
	for b.Loop() {
		m.Put(1)
		<-m.Ready()
		buf = m.Drain(buf)
	}
}
