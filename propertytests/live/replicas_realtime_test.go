//go:build realtime

package live_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tear leaves at the end of each file of a server that is down what a loss of power may: garbage,
// or the first part of a record. Of the stream and of the servers' elections it is the log.
func tear(t *testing.T, dir string) {
	t.Helper()
	torn := 0
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".blk" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		tail := []byte(strings.Repeat("torn", 20))
		if torn++; torn%2 == 0 && len(data) >= 60 {
			tail = data[:60] // a record begins with its length
		}
		return os.WriteFile(path, append(data, tail...), 0o600)
	})
	if err != nil || torn == 0 {
		t.Fatalf("%d files are torn in %s: %v", torn, dir, err)
	}
}

// TestRealtimeClusterReplicaTail: of three servers the one that leads the stream, and then another
// one, loses what it has stored last, and its part in the elections of servers with it, while the
// other two continue; and then each of them has its files torn. The others have it all, and are the
// majority that it comes back to. No epoch goes back and nobody takes the store for one that went
// back, what was acknowledged is there, and what a deposed leader writes late is refused, also when
// the server that has lost something leads the stream.
func TestRealtimeClusterReplicaTail(t *testing.T) {
	t.Parallel() // it waits, nearly all the time
	s := onStepping(t)
	n := cycles(t)
	for range n {
		for _, lost := range []bool{true, false} {
			leads := s.leads()
			s.harmTail(leads, lost)
			s.harmTail((leads+1)%s.c.Size(), lost)
		}
		if s.a.Check(); t.Failed() {
			return
		}
	}
	t.Logf("%s; %d late writes refused by each", s.b.check(t), s.refused)
	s.a.Check()
	all := s.counted()
	all.add(2*n, "replicas that have lost their tail")
	all.add(2*n, "replicas with a torn tail")
	played(t, n, "the tail lost of the replica that leads the stream and of another one, and torn of both", all)
}

// harmTail has a server lose the end of what it has stored, or has it torn, while the role changes
// hands.
func (s *stepped) harmTail(i int, lost bool) {
	s.t.Helper()
	dir := s.c.Process(i).StoreDir()
	harm := func() { tear(s.t, dir) }
	if lost {
		kept := s.t.TempDir()
		s.kill(i)
		if err := os.CopyFS(kept, os.DirFS(dir)); err != nil {
			s.t.Fatal(err)
		}
		s.restart(i)
		harm = func() {
			if err := errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(kept))); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	s.handOver(false) // what is lost
	s.kill(i)
	harm()
	s.handOver(false)
	s.restart(i)
	s.handOver(false)
	s.moves(i)
	s.handOver(false)
}
