package fencing

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func TestGuardRefusals(t *testing.T) {
	g := NewGuard(Token{})
	five := NewToken("r", "a", 5, 2, testID)
	if err := g.Admit(five); err != nil || !g.High().Equal(five) {
		t.Fatalf("the first token: %v", err)
	}
	for name, c := range map[string]struct {
		tok  Token
		want error
	}{
		"same":           {five, nil},
		"same, no id":    {NewToken("r", "a", 5, 2, uuid.Nil), nil},
		"older epoch":    {NewToken("r", "a", 4, 9, testID), ErrStale},
		"older seq":      {NewToken("r", "a", 5, 1, testID), ErrStale},
		"other holder":   {NewToken("r", "b", 5, 2, testID), ErrConflict},
		"other id":       {NewToken("r", "a", 5, 2, uuid.New()), ErrConflict},
		"other role":     {NewToken("s", "a", 6, 0, testID), ErrForeignRole},
		"zero":           {Token{}, ErrNoToken},
		"no epoch":       {Token{Role: "r"}, ErrNoToken},
		"no role at all": {Token{Epoch: 9}, ErrNoToken},
	} {
		if err := g.Admit(c.tok); !errors.Is(err, c.want) {
			t.Errorf("%s: Admit = %v, want %v", name, err, c.want)
		}
		acted := false
		if err := g.Do(c.tok, func() error { acted = true; return nil }); !errors.Is(err, c.want) ||
			acted != (c.want == nil) {
			t.Errorf("%s: Do = %v, acted %t; want %v", name, err, acted, c.want)
		}
	}
	if !g.High().Equal(five) {
		t.Errorf("a refused token changed High to %v", g.High())
	}
	var stale *StaleError
	if err := g.Admit(NewToken("r", "b", 1, 0, testID)); !errors.As(err, &stale) || stale.Token.Epoch != 1 ||
		!stale.High.Equal(five) {
		t.Errorf("the stale error says %+v", stale)
	}
}

func TestGuardZeroValue(t *testing.T) {
	var g Guard
	if !g.High().IsZero() {
		t.Errorf("High of a new guard is %v", g.High())
	}
	if err := g.Admit(Token{}); !errors.Is(err, ErrNoToken) {
		t.Errorf("the zero token: %v", err)
	}
	if err := g.Admit(NewToken("r", "a", 1, 0, testID)); err != nil {
		t.Errorf("the first token: %v", err)
	}
}

// A resource that keeps only the epoch beside its data gets a full guard back from it.
func TestGuardFloor(t *testing.T) {
	for _, floor := range []Token{{Epoch: 5}, {Role: "r", Epoch: 5}, {Role: "r", Holder: "a", Epoch: 5}} {
		g := NewGuard(floor)
		if err := g.Admit(NewToken("r", "z", 4, 0, testID)); !errors.Is(err, ErrStale) {
			t.Errorf("floor %#v: an older token: %v", floor, err)
		}
		full := NewToken("r", "a", 5, 0, testID)
		if err := g.Admit(full); err != nil || !g.High().Equal(full) {
			t.Errorf("floor %#v: its own epoch: %v, High %v", floor, err, g.High())
		}
		if err := g.Admit(NewToken("r", "b", 5, 0, uuid.New())); !errors.Is(err, ErrConflict) {
			t.Errorf("floor %#v: another holder after the first: %v", floor, err)
		}
	}
	// An id without a holder, then a holder without an id: neither takes away what the other told.
	g := NewGuard(NewToken("r", "", 5, 0, testID))
	if err := g.Admit(NewToken("r", "a", 5, 0, uuid.Nil)); err != nil ||
		!g.High().Equal(NewToken("r", "a", 5, 0, testID)) {
		t.Errorf("merging: %v, High %#v", err, g.High())
	}
}

// E3: a guard admits a token exactly if it is not older than the largest admitted; the same epoch
// and seq by another holder is a conflict. High is the largest admitted, always.
func TestGuardProperty(t *testing.T) {
	var admitted, stale, conflicts atomic.Int64
	rapid.Check(t, func(t *rapid.T) {
		var g Guard
		var high Token
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			holder := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "holder")
			tok := NewToken("r", holder, rapid.Uint64Range(1, 6).Draw(t, "epoch"), rapid.Uint32Range(0, 2).Draw(t, "seq"),
				uuid.NewSHA1(uuid.NameSpaceOID, []byte(holder)))
			admit := g.Admit
			if rapid.Bool().Draw(t, "do") {
				admit = func(tok Token) error { return g.Do(tok, func() error { return nil }) }
			}
			err := admit(tok)
			switch {
			case !high.IsZero() && tok.Compare(high) < 0:
				if !errors.Is(err, ErrStale) {
					t.Fatalf("%v after %v: %v, want stale", tok, high, err)
				}
				stale.Add(1)
			case !high.IsZero() && tok.Compare(high) == 0 && tok.Holder != high.Holder:
				if !errors.Is(err, ErrConflict) {
					t.Fatalf("%v after %v: %v, want a conflict", tok, high, err)
				}
				conflicts.Add(1)
			default:
				if err != nil {
					t.Fatalf("%v after %v: %v, want it admitted", tok, high, err)
				}
				high = tok
				admitted.Add(1)
			}
			if !g.High().Equal(high) {
				t.Fatalf("High is %v, want %v", g.High(), high)
			}
		}
	})
	if admitted.Load() == 0 || stale.Load() == 0 || conflicts.Load() == 0 {
		t.Errorf("proved nothing: %d admitted, %d stale, %d conflicts", admitted.Load(), stale.Load(), conflicts.Load())
	}
}

// Concurrently, and sampled inside every action: while an action runs, no newer token was admitted.
// A token that was admitted saw no newer token before.
func TestGuardDoIsOneStep(t *testing.T) {
	const workers, rounds = 8, 400
	var g Guard
	var acted, refused atomic.Int64
	var newest atomic.Uint64 // the largest epoch that any action has run under
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range rounds {
				epoch := uint64(i/4+w%3) + 1 // the workers are up to two epochs apart
				tok := Token{Role: "r", Holder: "h", Epoch: epoch}
				err := g.Do(tok, func() error {
					acted.Add(1)
					for n := newest.Load(); ; n = newest.Load() {
						if n > epoch {
							return fmt.Errorf("an action of epoch %d runs after one of %d", epoch, n)
						}
						if newest.CompareAndSwap(n, epoch) {
							break
						}
					}
					for range 20 {
						if h := g.High(); h.Epoch != epoch {
							return fmt.Errorf("%v was admitted while an action of epoch %d runs", h, epoch)
						}
					}
					return nil
				})
				if errors.Is(err, ErrStale) {
					refused.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if acted.Load() == 0 || refused.Load() == 0 {
		t.Errorf("proved nothing: %d actions, %d refused", acted.Load(), refused.Load())
	}
}

// A newer token is admitted while an older token has passed the first check and waits for its turn.
// The older token is refused all the same, and High does not decrease.
func TestGuardLooksAgain(t *testing.T) {
	older, newer := Token{Role: "r", Holder: "h", Epoch: 2}, Token{Role: "r", Holder: "h", Epoch: 5}
	for i := range 300 {
		g := new(Guard)
		show := g.Admit
		if i%2 == 0 {
			g = NewGuard(older) // for Do, the first look must find nothing to raise
			show = func(tok Token) error {
				return g.Do(tok, func() error { return errors.New("acted") })
			}
		}
		g.change.Lock()
		done := make(chan error, 1)
		go func() { done <- show(older) }()
		for range i {
			runtime.Gosched()
		}
		g.high.Store(&newer)
		g.change.Unlock()
		if err := <-done; !errors.Is(err, ErrStale) || g.High().Epoch != newer.Epoch {
			t.Fatalf("the older one: %v, want stale; High is %v", err, g.High())
		}
	}
}

func TestGuardDoSurvivesPanic(t *testing.T) {
	var g Guard
	func() {
		defer func() { _ = recover() }()
		_ = g.Do(Token{Role: "r", Epoch: 1}, func() error { panic("action") })
	}()
	if err := g.Admit(Token{Role: "r", Epoch: 2}); err != nil { // would hang if the panic had kept the lock
		t.Error(err)
	}
	if err := g.Do(Token{Role: "r", Epoch: 2}, func() error { return errTest }); !errors.Is(err, errTest) {
		t.Errorf("Do = %v, want the action's own error", err)
	}
}

var errTest = errors.New("the action's own")

func TestAdmitOfThePresentTokenAllocatesNothing(t *testing.T) {
	tok := NewToken("scheduler", "node-1", 42, 0, testID)
	g := NewGuard(tok)
	again := NewToken("scheduler", "node-1", 42, 0, testID)
	if n := testing.AllocsPerRun(100, func() {
		if g.Admit(tok) != nil || g.Admit(again) != nil {
			t.Fatal("refused")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkGuardAdmit(b *testing.B) {
	tok := NewToken("scheduler", "node-1", 42, 0, testID)
	g := NewGuard(tok)
	again := must(Parse(tok.Encode())) // stored apart, as from a request's header
	for name, tok := range map[string]Token{"present": tok, "parsed": again} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := g.Admit(tok); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := g.Admit(tok); err != nil {
					b.Error(err)
				}
			}
		})
	})
	b.Run("do", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := g.Do(tok, func() error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
}
