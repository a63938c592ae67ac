package examples

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// TestPrograms runs the small examples as their comments say, each against a server of its own.
func TestPrograms(t *testing.T) {
	dir := programs(t, "singleton", "tasks", "worker-only", "fencing", "shards")
	t.Run("singleton", func(t *testing.T) { t.Parallel(); testSingleton(t, dir+"singleton") })
	t.Run("tasks", func(t *testing.T) { t.Parallel(); testTasks(t, dir+"tasks", dir+"worker-only") })
	t.Run("fencing", func(t *testing.T) { t.Parallel(); testFencing(t, dir+"fencing") })
	t.Run("shards", func(t *testing.T) { t.Parallel(); testShards(t, dir+"shards") })
	t.Run("groups", func(t *testing.T) {
		if !thorough.Larger() {
			t.Skip("its processes are many: set CI=true THOROUGH=all to run it")
		}
		t.Parallel()
		testGroups(t, programs(t, "groups")+"groups")
	})
}

// TestStories runs those whose stories take many processes, or long.
func TestStories(t *testing.T) {
	thorough.Only(t, "each runs a crowd of processes, or waits for leases")
	dir := programs(t, "ordered-consumers", "control-manager", "datacenters", "cron")
	t.Run("ordered-consumers", func(t *testing.T) { t.Parallel(); testOrdered(t, dir+"ordered-consumers") })
	t.Run("control-manager", func(t *testing.T) { t.Parallel(); testControl(t, dir+"control-manager") })
	t.Run("datacenters", func(t *testing.T) { t.Parallel(); testSites(t, dir+"datacenters") })
	t.Run("cron", func(t *testing.T) { t.Parallel(); testCron(t, dir+"cron") })
}

// TestSmall: what is to be copied is short, and imports nothing that others cannot.
func TestSmall(t *testing.T) {
	for _, path := range []string{
		"singleton", "tasks", "worker-only", "fencing", "fencing/sqlite", "postgres", "shards", "cron", "kubernetes",
		"leader-service",
	} {
		text, err := os.ReadFile(filepath.Join(path, "main.go"))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > 90 {
			t.Errorf("%s has %d lines, more than 90", path, n)
		}
		if strings.Contains(string(text), "/internal/") {
			t.Errorf("%s imports an internal package", path)
		}
	}
}

// testSingleton: a second process waits, takes over at once when the first ends by a signal, and,
// in CI, within the TTL (10 s by default) when it is killed; epochs increase.
func testSingleton(t *testing.T, program string) {
	s := natstest.Server(t, natstest.Listen)
	first, second := leader(t, start(t, s, program), start(t, s, program))
	before := epoch(t, first)
	first.endsWell(t, syscall.SIGTERM)
	first.says(t, "stopped leading scheduler", 0)
	after := epoch(t, second)
	if after <= before {
		t.Errorf("epoch %d after %d", after, before)
	}

	if !thorough.Larger() {
		second.endsWell(t, syscall.SIGTERM)
		return // the rest waits for a lease
	}
	third := start(t, s, program)
	if err := second.ends(t, syscall.SIGKILL); err == nil {
		t.Error("a killed process has ended well")
	}
	if last := epoch(t, third); last <= after {
		t.Errorf("epoch %d after %d", last, after)
	}
	third.endsWell(t, syscall.SIGTERM)
}

func epoch(t *testing.T, p *process) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(p.says(t, `leading scheduler at epoch (\d+)`, 20*time.Second)[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// testTasks: one process hands out, another one works only, and a third one submits files and
// prints their digests.
func testTasks(t *testing.T, tasks, workerOnly string) {
	s := natstest.Server(t, natstest.Listen)
	scheduler, worker := start(t, s, tasks), start(t, s, workerOnly)
	dir := t.TempDir()
	files := make([]string, 200)
	for i := range files {
		files[i] = filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(files[i], []byte("content"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const digest = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"
	natstest.Eventually(t, "the worker runs tasks too", time.Minute, func() (bool, string) {
		submitter := start(t, s, tasks, files...)
		submitter.endsWell(t, 0)
		if n := strings.Count(submitter.output(), digest); n != len(files) {
			t.Fatalf("%d of %d digests:\n%s", n, len(files), submitter.output())
		}
		return strings.Contains(worker.output(), "attempt 1"), scheduler.output() + worker.output()
	})
	for _, p := range []*process{worker, scheduler} {
		p.endsWell(t, syscall.SIGTERM)
	}
}

// testGroups: schedulers and workers are killed while the members run, each member ends as it has
// to, and the completion runs after them. The program checks that itself.
func testGroups(t *testing.T, program string) {
	const members = 1000
	p := start(t, natstest.Server(t, natstest.Listen), program, "-members", strconv.Itoa(members), "-kills", "3",
		"-work", "30ms")
	p.endsWell(t, 0)
	for _, line := range []string{
		fmt.Sprintf("%d succeeded, %d dead, 0 cancelled", members-members/100, members/100),
		"killed +scheduler", "killed +worker", "completion +succeeded",
	} {
		p.says(t, line, 0)
	}
}

// testOrdered: four processes consume 16 partitions, one is killed, and one is added. The program
// checks itself that no order is lost, out of order, or in two processes at once.
func testOrdered(t *testing.T, program string) {
	p := start(t, natstest.Server(t, natstest.Listen), program)
	p.endsWell(t, 0)
	for _, line := range []string{
		`published +\d{3,} orders of 40 accounts, in 16 partitions`, "killed +consumer-[1-4], ",
		"added +consumer-5: it leads 4 partitions", "0 out of order, 0 lost, 0 in two processes at once",
		"0 accounts with a wrong sum",
	} {
		p.says(t, line, 0)
	}
}

// testFencing: both resources refuse the request of the first term.
func testFencing(t *testing.T, program string) {
	p := start(t, natstest.Server(t, natstest.Listen), program)
	p.endsWell(t, 0)
	for _, line := range []string{"stale for the store: true", "stale for the guard: true"} {
		p.says(t, line, 0)
	}
	if out := p.output(); strings.Count(out, "printed page 1") != 2 || strings.Contains(out, "printed page 2") {
		t.Errorf("what was printed:\n%s", out)
	}
}

// testShards: four processes lead 16 shards each, and the others again all of them when one is
// killed.
func testShards(t *testing.T, program string) {
	s := natstest.Server(t, natstest.Listen)
	var all []*process
	for range 4 {
		all = append(all, start(t, s, program))
	}
	spread(t, all)
	if err := all[0].ends(t, syscall.SIGKILL); err == nil {
		t.Error("a killed process has ended well")
	}
	spread(t, all[1:])
	for _, p := range all[1:] {
		p.endsWell(t, syscall.SIGTERM)
	}
}

// spread waits until the processes lead the 64 shards, none of them two more than another.
func spread(t *testing.T, all []*process) {
	t.Helper()
	natstest.Eventually(t, "the shards are spread", time.Minute, func() (bool, string) {
		total, least, most := 0, 64, 0
		for _, p := range all {
			said := leads.FindAllStringSubmatch(p.output(), -1)
			if len(said) == 0 {
				return false, p.output()
			}
			n, _ := strconv.Atoi(said[len(said)-1][1]) // of digits
			total, least, most = total+n, min(least, n), max(most, n)
		}
		return total == 64 && most-least <= 1, strconv.Itoa(total)
	})
}

var leads = regexp.MustCompile(`leads (\d+) shards`)
