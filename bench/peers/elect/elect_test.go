package elect_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/bench/peers/elect"
	"github.com/rolemanager/rolemanager/bench/peers/stores"
	"github.com/rolemanager/rolemanager/bench/proc"
)

func TestMain(m *testing.M) {
	proc.Serve(map[string]proc.Kind{stores.Kind: stores.Serve})
	m.Run()
}

// Every peer is used rightly enough that one of two instances leads, and the other one after it has
// resigned.
func TestPeersHandOver(t *testing.T) {
	const ttl, patience = 4 * time.Second, 2 * time.Minute
	for _, p := range elect.Peers {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel() // most of it is waiting
			s, err := stores.Start(p.Store, false)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			if p.Prepare != nil {
				if err := p.Prepare(t.Context(), s.Addr(), ttl); err != nil {
					t.Fatal(err)
				}
			}
			var mu sync.Mutex
			var terms []string // what happened in which order
			changed := make(chan struct{}, 1)
			tell := func(name string) func(what, role string) {
				return func(what, _ string) {
					mu.Lock()
					terms = append(terms, what+" "+name)
					mu.Unlock()
					select {
					case changed <- struct{}{}:
					default:
					}
				}
			}
			all := map[string]elect.Candidate{}
			for _, name := range []string{"a", "b"} {
				c, err := p.Open(t.Context(), elect.Config{Addr: s.Addr(), Instance: name, TTL: ttl}, elect.Work{Tell: tell(name)})
				if err != nil {
					t.Fatal(err)
				}
				all[name] = c
				if err := c.Stand(t.Context(), "role"); err != nil {
					t.Fatal(err)
				}
			}
			begun := func(n int) (who string) {
				t.Helper()
				late := time.After(patience)
				for {
					mu.Lock()
					left, seen := n, fmt.Sprint(terms)
					for _, x := range terms {
						if name, ok := strings.CutPrefix(x, elect.Began+" "); ok {
							if left--; left == 0 {
								who = name
							}
						}
					}
					mu.Unlock()
					if who != "" {
						return who
					}
					select {
					case <-changed:
					case <-late:
						t.Fatalf("not %d terms within %v: %s", n, patience, seen)
					}
				}
			}
			first := begun(1)
			for end := time.Now().Add(patience); !all[first].Leads("role"); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%s works, and does not say that it leads", first)
				}
			}
			if err := all[first].Resign(t.Context(), "role"); err != nil {
				t.Error(err)
			}
			if second := begun(2); second == first {
				t.Errorf("%s leads again: %v", first, terms)
			}
		})
	}
}
