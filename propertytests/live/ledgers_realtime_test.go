//go:build realtime

package live_test

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// moreStops is how many leaders more are stopped, at most, until one of them had a late write in
// hand: about four of five have.
const moreStops = 20

// TestRealtimeFencedLedgers: leaders write into three ledgers, are stopped for two TTLs in the
// middle of it and continue, or are killed and started again. In the file that compares epochs, and
// in the store whose writes the server compares, no entry comes after one of a later epoch; what
// was refused had been overtaken. The ledger that compares nothing is the control: what is stale
// there would have been elsewhere.
//
// Where in its work a leader is stopped is chance: the test continues until late writes were
// refused and the control has taken one.
func TestRealtimeFencedLedgers(t *testing.T) {
	server := natstest.Server(t, natstest.Listen)
	if _, err := natskv.Create(t.Context(), natstest.Connect(t, server), natskv.Config{Bucket: "roles"}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ps := &processes{t: t, url: server.URL(), env: []string{childLedgers + "=" + dir}}
	running := map[string]*exec.Cmd{}
	names := []string{"a", "b", "c"}
	for _, name := range names {
		running[name] = ps.start(name)
	}
	others := func(name string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(other string) bool { return other == name })
	}
	leader := ps.leads(0, names...)
	n, stops := cycles(t), 0
	for missing := []string(nil); stops < n || len(missing) > 0; missing = ps.notYetLate(dir) {
		if stops == n+moreStops {
			t.Errorf("%d leaders were stopped while they wrote, and there was no %s: %s",
				stops, strings.Join(missing, ", no "), ps.said())
			break
		}
		stops++
		ps.writes(leader, dir)
		stop(t, running[leader.name], dir)
		since := time.Now()
		next := ps.leads(leader.epoch, others(leader.name)...)
		ps.writes(next, dir)
		time.Sleep(time.Until(since.Add(2 * childTTL))) // the next one may have led and written sooner
		signalTo(t, running[leader.name], syscall.SIGCONT)
		ps.await(leader.name+" stops", func(l childLine) bool { return l == childLine{leader.name, "stops", leader.epoch} })

		leader = next
		signalTo(t, running[leader.name], syscall.SIGKILL)
		_ = running[leader.name].Wait() // killed
		next = ps.leads(max(leader.epoch, ps.lastOf(t, leader.name)), others(leader.name)...)
		running[leader.name] = ps.start(leader.name)
		leader = next
	}
	ps.writes(leader, dir)
	for _, cmd := range running {
		signalTo(t, cmd, syscall.SIGKILL)
		_ = cmd.Wait() // killed
	}
	all := ps.checkLedgers(server, dir)
	all.add(ps.exclusive(1+2*stops), "violations")
	all.add(stops, "leaders stopped")
	all.add(stops, "leaders killed")
	played(t, stops, "a leader that writes stopped for two TTLs, and one killed", all)
}

// notYetLate are the things that only a late write brings and that have not come yet.
func (ps *processes) notYetLate(dir string) (missing []string) {
	ps.t.Helper()
	control, err := readLedger(filepath.Join(dir, controlFile))
	if err != nil {
		ps.t.Fatal(err)
	}
	if stale(control) == 0 {
		missing = append(missing, "stale entry in the ledger without a fence")
	}
	said := ps.all(ps.t)
	for _, by := range []string{"file", "store"} {
		if !slices.ContainsFunc(said, func(l childLine) bool { return l.what == "refused-by-"+by }) {
			missing = append(missing, "write refused by the "+by)
		}
	}
	return missing
}

// writes waits until a leader has written under its epoch.
func (ps *processes) writes(l childLine, dir string) {
	ps.t.Helper()
	natstest.Eventually(ps.t, fmt.Sprint(l.name, " writes"), patience, func() (bool, string) {
		all, err := readLedger(filepath.Join(dir, fencedFile))
		return slices.ContainsFunc(all, func(e ledgerEntry) bool { return e.holder == l.name && e.epoch >= l.epoch }),
			fmt.Sprint(len(all), " entries, ", err)
	})
}

// checkLedgers reads all that was written, and counts it.
func (ps *processes) checkLedgers(server *natsrun.Server, dir string) (all counts) {
	t := ps.t
	t.Helper()
	inStore, err := stored(t, natstest.Connect(t, server), fencedStore)
	if err != nil {
		t.Fatal(err)
	}
	ledgers := map[string][]ledgerEntry{"store": inStore}
	for _, name := range []string{fencedFile, controlFile} {
		all, err := readLedger(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		ledgers[name] = all
	}
	for _, name := range []string{"store", fencedFile} {
		if n := stale(ledgers[name]); n > 0 {
			t.Errorf("%s: %d stale entries among %d", name, n, len(ledgers[name]))
		}
		holders := map[uint64]string{}
		for _, e := range ledgers[name] {
			if by := holders[e.epoch]; by != "" && by != e.holder {
				t.Errorf("%s: epoch %d is of %s and %s", name, e.epoch, by, e.holder)
			}
			holders[e.epoch] = e.holder
		}
		if len(holders) < 2 {
			t.Errorf("%s: %d entries of %d epochs prove nothing", name, len(ledgers[name]), len(holders))
		}
	}
	highest, refused := uint64(0), map[string]int{}
	for _, l := range ps.all(t) {
		highest = max(highest, l.epoch)
	}
	for _, l := range ps.all(t) {
		if strings.HasPrefix(l.what, "refused") {
			if refused[l.what]++; l.epoch == highest {
				t.Errorf("%s: %v, and nobody came after it", l.name, l)
			}
		}
	}
	t.Logf("%d entries in the file, %d in the store, none of them stale; refused: %v; stale entries in the ledger "+
		"without a fence: %d of %d",
		len(ledgers[fencedFile]), len(ledgers["store"]), refused, stale(ledgers[controlFile]), len(ledgers[controlFile]))
	return counts{
		{len(ledgers[fencedFile]), "writes taken by the file"},
		{refused["refused-by-file"], "stale writes refused by the file"},
		{len(ledgers["store"]), "writes taken by the store"},
		{refused["refused-by-store"], "stale writes refused by the store"},
		{stale(ledgers[fencedFile]) + stale(ledgers["store"]), "stale writes taken"},
		{stale(ledgers[controlFile]), "stale writes taken by the ledger without a fence"},
	}
}

// stored are the entries of a store, in the order in which the server has stored them.
func stored(t *testing.T, nc *nats.Conn, name string) (all []ledgerEntry, err error) {
	t.Helper()
	bucket, err := natskv.Open(t.Context(), nc, name)
	if err != nil {
		return nil, err
	}
	watch, err := bucket.Watch(t.Context(), nc, "")
	if err != nil {
		return nil, err
	}
	defer watch.Close()
	type at struct {
		ledgerEntry
		revision uint64
	}
	var found []at
	for u := range watch.C() {
		for _, e := range u.Entries {
			if strings.HasPrefix(e.Key, "_fence.") {
				continue
			}
			var a at
			if _, err := fmt.Sscan(string(e.Value), &a.epoch, &a.n, &a.holder); err != nil {
				t.Fatalf("%s: %q: %v", e.Key, e.Value, err)
			}
			a.revision = e.Revision
			found = append(found, a)
		}
		if u.Snapshot {
			break
		}
	}
	slices.SortFunc(found, func(a, b at) int { return cmp.Compare(a.revision, b.revision) })
	for _, a := range found {
		all = append(all, a.ledgerEntry)
	}
	return all, nil
}
