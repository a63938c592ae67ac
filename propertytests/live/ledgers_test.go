package live_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
)

// Ledgers that leaders write into: a file that compares epochs, one that takes everything, and a
// fencing.Store.
const (
	fencedFile  = "fenced"
	controlFile = "control"
	fencedStore = "ledger"
)

var errOldEpoch = errors.New("a later epoch has written")

// ledgerEntry is one line of a ledger.
type ledgerEntry struct {
	epoch  uint64
	n      int
	holder string
}

func (e ledgerEntry) String() string { return fmt.Sprintln(e.epoch, e.n, e.holder) }

// readLedger reads a whole one.
func readLedger(path string) (all []ledgerEntry, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e ledgerEntry
		if _, err := fmt.Sscan(lines.Text(), &e.epoch, &e.n, &e.holder); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", path, lines.Text(), err)
		}
		all = append(all, e)
	}
	return all, nil
}

// fencedLedger is a resource as anybody would write it around a file: under its lock it compares
// the epoch of the writer with that of the last line, as UPDATE ... WHERE fence <= $1 does in a
// database.
type fencedLedger struct{ file *os.File }

func openFenced(dir string) (*fencedLedger, error) {
	f, err := os.OpenFile(filepath.Join(dir, fencedFile), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	return &fencedLedger{f}, err
}

func (l *fencedLedger) add(e ledgerEntry) (err error) {
	if err := syscall.Flock(int(l.file.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN)) }()
	last, err := l.last()
	if err != nil {
		return err
	}
	if e.epoch < last {
		return errOldEpoch
	}
	_, err = l.file.WriteString(e.String())
	return err
}

// last is the epoch of the last line, 0 for none.
func (l *fencedLedger) last() (epoch uint64, err error) {
	info, err := l.file.Stat()
	if err != nil || info.Size() == 0 {
		return 0, err
	}
	tail := make([]byte, min(info.Size(), 200)) // longer than any line
	if _, err := l.file.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return 0, err
	}
	lines := strings.Split(strings.TrimSpace(string(tail)), "\n")
	_, err = fmt.Sscan(lines[len(lines)-1], &epoch)
	return epoch, err
}

// writeLedgers is the work of a leader: it looks whether it leads, prepares something, and writes
// it into each ledger. If something stops the process in between, the process does not notice
// before it has written. It says which writes were refused.
func writeLedgers(ctx context.Context, nc *nats.Conn, dir string, t *election.Term) error {
	fenced, err := openFenced(dir)
	if err != nil {
		return err
	}
	defer fenced.file.Close()
	control, err := os.OpenFile(filepath.Join(dir, controlFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer control.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	store, err := fencing.OpenStore(ctx, js, fencedStore, t.Token(), fencing.WithCreate(1))
	if err != nil {
		return err
	}
	for n := 0; t.Valid() && ctx.Err() == nil; n++ {
		e := ledgerEntry{t.Epoch(), n, t.Token().Holder}
		time.Sleep(5 * time.Millisecond) // what it takes to prepare a write
		if _, err := control.WriteString(e.String()); err != nil {
			return err
		}
		switch err := fenced.add(e); {
		case errors.Is(err, errOldEpoch):
			fmt.Println("refused-by-file", e.epoch)
		case err != nil:
			return err
		}
		// The store is asked with whatever time it takes: that the term is over does not keep a late
		// write back.
		switch _, err := store.Put(context.WithoutCancel(ctx), fmt.Sprintf("%d.%d", e.epoch, n), []byte(e.String())); {
		case errors.Is(err, fencing.ErrStale):
			fmt.Println("refused-by-store", e.epoch)
		case err != nil:
			fmt.Println("unknown", e.epoch)
		}
	}
	return nil
}

// stale counts the entries that come after one of a later epoch.
func stale(all []ledgerEntry) (n int) {
	high := uint64(0)
	for _, e := range all {
		if e.epoch < high {
			n++
		}
		high = max(high, e.epoch)
	}
	return n
}

// TestFencedLedger: a file refuses what is older than its last line, also through another handle,
// and the count of what is stale finds what a ledger without that has taken.
func TestFencedLedger(t *testing.T) {
	dir := t.TempDir()
	a, err := openFenced(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.file.Close()
	b, err := openFenced(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.file.Close()
	for _, step := range []struct {
		to   *fencedLedger
		e    ledgerEntry
		want error
	}{
		{a, ledgerEntry{4, 0, "a"}, nil},
		{b, ledgerEntry{9, 0, "b"}, nil},
		{a, ledgerEntry{4, 1, "a"}, errOldEpoch},
		{b, ledgerEntry{9, 1, "b"}, nil},
		{a, ledgerEntry{12, 0, "a"}, nil},
		{b, ledgerEntry{9, 2, "b"}, errOldEpoch},
	} {
		if err := step.to.add(step.e); !errors.Is(err, step.want) {
			t.Errorf("%v: %v, want %v", step.e, err, step.want)
		}
	}
	all, err := readLedger(filepath.Join(dir, fencedFile))
	if err != nil || len(all) != 4 || stale(all) != 0 {
		t.Errorf("the ledger holds %v, %v", all, err)
	}
	if n := stale(append(all, ledgerEntry{9, 3, "b"})); n != 1 {
		t.Errorf("%d stale entries were counted, want 1", n)
	}
}
