package queue

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// keyed is an item of a key: its name is <key>.<n>.
type keyed struct {
	name  string
	order uint64
	due   record.Instant
	place int32
}

func (p *keyed) Order() uint64      { return p.order }
func (p *keyed) Place(uint8) *int32 { return &p.place }

func (p *keyed) key() string {
	key, _, _ := strings.Cut(p.name, ".")
	return key
}

// add puts in the items <key>.<from> to <key>.<to-1>.
func add(f *Fair[*keyed], key string, from, to int) {
	for n := from; n < to; n++ {
		f.Add(key, &keyed{name: fmt.Sprint(key, ".", n), order: uint64(n)}, record.Instant(n))
	}
}

// serve lets one item go.
func serve(f *Fair[*keyed]) string {
	t, _ := f.First()
	f.turns.Went(t.key())
	f.Remove(t.key(), t)
	return t.name
}

func row(f *Fair[*keyed], n int) string {
	var got []string
	for range n {
		got = append(got, serve(f))
	}
	return strings.Join(got, " ")
}

// TestMost: the keys with the most items come first, in whatever queue these are, and those of one
// number by name.
func TestMost(t *testing.T) {
	turns := NewTurns[*keyed]()
	f, g := NewFair(turns), NewFair(turns)
	for i, key := range []string{"d", "c", "b", "a"} {
		add(f, key, 0, 2)
		add(g, key, 2, 2+i/2)
	}
	add(f, "few", 0, 1)
	for n, want := range map[int]string{
		0: "[]", 1: "[{a 3}]", 3: "[{a 3} {b 3} {c 2}]", 9: "[{a 3} {b 3} {c 2} {d 2} {few 1}]",
	} {
		if got := fmt.Sprint(turns.Most(n)); got != want {
			t.Errorf("%d: %s, and not %s", n, got, want)
		}
	}
}

func TestKeysTakeTurns(t *testing.T) {
	f := NewFair(NewTurns[*keyed]())
	add(f, "a", 0, 100)
	add(f, "b", 0, 2)
	add(f, "c", 0, 1)
	if got, want := row(f, 7), "a.0 b.0 c.0 a.1 b.1 a.2 a.3"; got != want {
		t.Errorf("%s, and not %s", got, want)
	}
	if f.Len() != 96 || f.turns.Len() != 1 {
		t.Errorf("%d items are left, of %d keys", f.Len(), f.turns.Len())
	}
}

// TestSharesOfKeys: a key goes as often as its share says before it is the last. New shares count
// at once, and nobody loses its place. A key that comes again has a whole turn, and nothing more.
func TestSharesOfKeys(t *testing.T) {
	turns := NewTurns[*keyed]()
	turns.Shares = map[string]int{"a": 3, "b": 2, "nobody": 9}
	f := NewFair(turns)
	for _, key := range []string{"a", "b", "c"} {
		add(f, key, 0, 100)
	}
	served := func(n int) (keys string) {
		for range n {
			keys += serve(f)[:1]
		}
		return keys
	}
	for _, c := range []struct {
		what, want string
		shares     map[string]int
	}{
		{"two rounds", "aaabbcaaabbc", turns.Shares},
		{"a part of a turn", "aa", turns.Shares},
		{"less than it has gone: once more", "abbbbcab", map[string]int{"a": 1, "b": 4}},
		{"more, in the middle of a turn", "bbbbc", map[string]int{"b": 5}},
		{"none", "abcabc", nil},
		{"more for one that waits", "abccca", map[string]int{"c": 3}},
	} {
		turns.Shares = c.shares
		if got := served(len(c.want)); got != c.want {
			t.Errorf("%s: %s, and not %s", c.what, got, c.want)
		}
	}
	turns.Shares = map[string]int{"x": 3}
	add(f, "x", 0, 2)
	if got := served(5); got != "bcaxx" {
		t.Errorf("one that comes: %s", got)
	}
	if turns.Len() != 3 {
		t.Fatalf("%d keys", turns.Len())
	}
	add(f, "x", 2, 9)
	if got := served(9); got != "bcaxxxbca" {
		t.Errorf("it comes again with one of its turn left: %s", got)
	}
}

// TestAKeyThatComesIsTheLast: one that submits a new item whenever its last one has gone does not
// go more often than others.
func TestAKeyThatComesIsTheLast(t *testing.T) {
	f := NewFair(NewTurns[*keyed]())
	add(f, "a", 0, 100)
	add(f, "b", 0, 100)
	count := map[string]int{}
	for n := range 60 {
		if f.turns.keys["x"] == nil {
			add(f, "x", n, n+1)
		}
		count[serve(f)[:1]]++
	}
	if count["x"] != 20 || count["a"] != 20 || count["b"] != 20 {
		t.Errorf("%v", count)
	}
}

// TestSeveralQueuesShareTheTurns: a key with items in two queues goes as often as one with items in
// one. One whose queue was stopped goes once when it continues, and then in turn.
func TestSeveralQueuesShareTheTurns(t *testing.T) {
	turns := NewTurns[*keyed]()
	f, g := NewFair(turns), NewFair(turns)
	add(f, "a", 0, 100)
	add(g, "a", 100, 200)
	add(g, "b", 0, 100)
	count := map[string]int{}
	for range 40 {
		next := f
		if placeOf(f) > placeOf(g) {
			next = g
		}
		count[serve(next)[:1]]++
	}
	if count["a"] != 20 || count["b"] != 20 {
		t.Errorf("%v", count)
	}
	for range 50 { // g has stopped
		if !strings.HasPrefix(serve(f), "a.") {
			t.Fatal("f has another key")
		}
	}
	if got := row(g, 4); got != "b.20 a.100 b.21 a.101" {
		t.Errorf("after a stop: %s", got)
	}
}

func placeOf(g *Fair[*keyed]) record.Instant {
	_, place := g.First()
	return place
}

// passing is what goes while a key waits for its turn.
type passing struct {
	items  int            // that have gone since an item of the key went, or the key came
	most   int            // shares of the keys that had items at once
	beside map[string]int // keys that have had items, and the largest share of each
}

// TestWithinOneRound: whatever comes and goes, the first item of each of n keys goes within n
// items, or as many as their shares are together, also while these change. A key without items
// leaves nothing behind.
func TestWithinOneRound(t *testing.T) {
	for seed := range thorough.Pick(uint64(100), 300) {
		r := rand.New(rand.NewPCG(seed, 0))
		turns := NewTurns[*keyed]()
		fairs := []*Fair[*keyed]{NewFair(turns), NewFair(turns)}
		var in []*keyed
		serial, waits, open := uint64(0), map[string]*passing{}, map[string]int{}
		equal, changing := seed%3 == 0, seed%3 == 2
		share := func(key string) int { return max(turns.Shares[key], 1) }
		draw := func() {
			turns.Shares = map[string]int{}
			for n := range r.IntN(20) {
				turns.Shares[fmt.Sprint("k", n)] = 1 + r.IntN(5)
			}
		}
		if !equal {
			draw()
		}
		at := func(p *keyed) *Fair[*keyed] { return fairs[p.order%2] }
		gone := func(p *keyed) {
			for i, x := range in {
				if x == p {
					in = append(in[:i], in[i+1:]...)
					break
				}
			}
			key := p.key()
			if open[key]--; open[key] == 0 {
				delete(open, key)
				delete(waits, key)
			}
		}
		for range 400 {
			switch n := r.IntN(5); {
			case len(in) == 0 || n < 3:
				serial++
				p := &keyed{name: fmt.Sprint("k", r.IntN(1+r.IntN(20)), ".", serial), order: serial, due: record.Instant(r.IntN(9))}
				key := p.key()
				if open[key]++; open[key] == 1 {
					waits[key] = &passing{beside: map[string]int{}}
				}
				at(p).Add(key, p, p.due)
				in = append(in, p)
			case n == 3:
				p := in[r.IntN(len(in))]
				at(p).Remove(p.key(), p)
				at(p).Remove(p.key(), p) // it is not in
				gone(p)
			default:
				var p *keyed
				var least record.Instant
				for _, f := range fairs {
					if f.Len() == 0 {
						continue
					}
					if x, place := f.First(); p == nil || place < least {
						p, least = x, place
					}
				}
				turns.Went(p.key())
				at(p).Remove(p.key(), p)
				for _, w := range waits {
					w.items++
				}
				w, within := waits[p.key()], 0
				for _, n := range w.beside {
					within += n
				}
				if !changing {
					within = w.most
				}
				if w.items > within {
					t.Fatalf("seed %d: %s goes as the %d., and not within %d", seed, p.name, w.items, within)
				}
				*w = passing{beside: map[string]int{}}
				gone(p)
			}
			if changing && r.IntN(9) == 0 {
				draw()
			}
			together := 0
			for key := range open {
				together += share(key)
			}
			for _, w := range waits {
				w.most = max(w.most, together)
				for key := range open {
					w.beside[key] = max(w.beside[key], share(key))
				}
			}
			for i, f := range fairs {
				var oldest *keyed
				n := 0
				for _, p := range in {
					if at(p) != f {
						continue
					}
					if n++; oldest == nil || p.due < oldest.due || p.due == oldest.due && p.order < oldest.order {
						oldest = p
					}
				}
				if f.Len() != n {
					t.Fatalf("seed %d: %d items are in %d, and not %d", seed, f.Len(), i, n)
				}
				if n == 0 {
					continue
				}
				if p, due := f.Oldest(); p != oldest || due != p.due {
					t.Fatalf("seed %d: the oldest is %s and not %s", seed, p.name, oldest.name)
				}
			}
			if turns.Len() != len(open) {
				t.Fatalf("seed %d: %d keys are known, and %d have items", seed, turns.Len(), len(open))
			}
		}
	}
}

// BenchmarkFair lets a million items go that wait, those of ten thousand keys in turn, and beside
// it from a plain queue.
func BenchmarkFair(b *testing.B) {
	const n, keys = 1_000_000, 10_000
	names := make([]string, keys)
	for i := range names {
		names[i] = fmt.Sprint("tenant-", i)
	}
	all := make([]*keyed, n)
	for i := range all {
		all[i] = &keyed{name: names[i%keys], order: uint64(i)}
	}
	b.Run("plain", func(b *testing.B) {
		var q Queue[*keyed]
		for i, p := range all {
			q.Add(p, record.Instant(i))
		}
		at := record.Instant(n)
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			p := q.First()
			q.Remove(p)
			q.Add(p, at)
			at++
		}
		b.StopTimer()
		for _, p := range all {
			q.Remove(p)
		}
	})
	b.Run("fair", func(b *testing.B) {
		f := NewFair(NewTurns[*keyed]())
		for i, p := range all {
			f.Add(p.name, p, record.Instant(i))
		}
		at := record.Instant(n)
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			p, _ := f.First()
			f.turns.Went(p.name)
			f.Remove(p.name, p)
			f.Add(p.name, p, at)
			at++
		}
		b.StopTimer()
		for _, p := range all {
			f.Remove(p.name, p)
		}
	})
	runtime.KeepAlive(all)
}
