//go:build realtime

package propertytests_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/propertytests/taskarena"
)

// pages is what one start of a child tells of its terms.
type pages struct{ terms, adopted int }

// readDiary turns what one start of a child has written into the ledger. Its handlers heed their contexts, but on a busy machine
// they may be slow to: only the order of what happens is checked. A process that was killed has ended what it ran when it was.
func readDiary(t *testing.T, a *taskarena.Arena, path, instance, process string, killed time.Time) (p pages) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	running := map[string]*taskarena.Run{}
	var all []*taskarena.Run
	scan := bufio.NewScanner(strings.NewReader(string(data)))
	for scan.Scan() {
		text := scan.Text()
		var r taskarena.Run
		var nanos int64
		var session, epoch uint64
		word, rest, _ := strings.Cut(text, " ")
		n, want := 0, 0
		switch word {
		case "begin":
			want = 5
			if n, _ = fmt.Sscan(rest, &r.Task, &r.Epoch, &r.N, &r.Session, &nanos); n == want {
				r.Process, r.Instance, r.Stubborn, r.From = process, instance, patience, time.Unix(0, nanos)
				running[fmt.Sprint(r.Task, " ", r.Epoch, " ", r.N)] = &r
				all = append(all, &r)
			}
		case "end":
			want = 5
			if n, _ = fmt.Sscan(rest, &r.Task, &r.Epoch, &r.N, &r.How, &nanos); n == want {
				key := fmt.Sprint(r.Task, " ", r.Epoch, " ", r.N)
				running[key].To, running[key].How = time.Unix(0, nanos), r.How
				delete(running, key)
			}
		case "lost":
			want = 2
			if n, _ = fmt.Sscan(rest, &session, &nanos); n == want {
				a.Ledger.Lost(process, session, time.Unix(0, nanos))
			}
		case "leads":
			want = 1
			if n, _ = fmt.Sscan(rest, &epoch); n == want {
				p.terms++
			}
		case "recovered":
			want = 2
			var open, adopted int
			if n, _ = fmt.Sscan(rest, &open, &adopted); n == want {
				p.adopted += adopted
			}
		}
		if n != want && killed.IsZero() {
			t.Fatalf("%s wrote %q", process, text)
		}
	}
	for _, r := range all {
		if r.To.IsZero() && !killed.IsZero() {
			r.To, r.How = killed, "killed"
		}
		a.Ledger.Add(*r)
	}
	return p
}
