//go:build realtime

package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// sizes are the numbers of roles that are compared.
var sizes = []int{1000, 10_000}

const (
	leadingChild = "BENCH_LEADING_CHILD"
	followedTTL  = 10 * time.Second
)

func bucketOf(roles int) string { return fmt.Sprint("roles-", roles) }

// leadForParent is the other process of BenchmarkFollowedRole: a server, and the leader of all
// roles. It runs until its input ends. So nothing of either is in the heap that is measured.
func leadForParent() {
	if os.Getenv(leadingChild) == "" {
		return
	}
	err := func() error {
		s, err := natsrun.Start(natsrun.Options{Listen: true})
		if err != nil {
			return err
		}
		defer func() { _ = s.Shutdown() }() // the process ends
		for _, roles := range sizes {
			nc, err := s.Connect()
			if err != nil {
				return err
			}
			session, err := election.NewSession(election.SessionConfig{
				Bucket: bucketOf(roles), BucketAutoCreate: true, InstanceID: "leader", TTL: followedTTL,
			})
			if err != nil {
				return err
			}
			if err := session.Open(context.Background(), nc); err != nil {
				return err
			}
			promoted := make(chan struct{}, roles)
			for r := range roles {
				e, err := session.Campaign(election.RoleConfig{
					Role: fmt.Sprint("role-", r),
					Lead: func(ctx context.Context, _ *election.Term) error {
						promoted <- struct{}{}
						<-ctx.Done()
						return nil
					},
				})
				if err != nil {
					return err
				}
				if err := e.Start(context.Background()); err != nil {
					return err
				}
			}
			for range roles {
				<-promoted
			}
		}
		fmt.Println("url", s.URL())
		_, err = io.Copy(io.Discard, os.Stdin)
		return err
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// leader starts the other process and returns where its server is.
func leader(b *testing.B) (url string) {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	child := exec.Command(self)
	child.Env = append(os.Environ(), leadingChild+"=1")
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := child.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		if err := child.Wait(); err != nil {
			b.Error(err)
		}
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "url "); ok {
			return url
		}
	}
	b.Fatal("the leading process has ended")
	return ""
}

// BenchmarkFollowedRole: the cost of one more role for a process that waits in line for it while
// another leads it, at rest.
func BenchmarkFollowedRole(b *testing.B) {
	url := leader(b)
	for i := range names {
		names[i] = fmt.Sprint("role-", i)
	}
	for b.Loop() {
		var heap [2]uint64
		var goroutines [2]int
		for i, roles := range sizes {
			heap[i], goroutines[i] = follow(b, url, roles)
			b.ReportMetric(float64(heap[i]), fmt.Sprint("heap-bytes-", roles))
		}
		more := float64(sizes[1] - sizes[0])
		b.ReportMetric((float64(heap[1])-float64(heap[0]))/more, "bytes/role")
		b.ReportMetric(float64(goroutines[1]), "goroutines")
		b.ReportMetric(float64(goroutines[1]-goroutines[0])/more, "goroutines/role")
	}
	b.ReportMetric(0, "ns/op")
}

// The benchmark's own data are there from the beginning, so they are not counted as a cost of a
// role.
var (
	names     [10_000]string
	elections [10_000]*election.Election
)

func follow(b *testing.B, url string, roles int) (heap uint64, goroutines int) {
	b.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		b.Fatal(err)
	}
	defer nc.Close()
	session, err := election.NewSession(election.SessionConfig{
		Bucket: bucketOf(roles), InstanceID: "follower",
		TTL: followedTTL,
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := session.Open(b.Context(), nc); err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := session.Close(context.Background()); err != nil {
			b.Error(err)
		}
	}()
	work := func(ctx context.Context, _ *election.Term) error {
		<-ctx.Done()
		return nil
	}
	all := elections[:roles]
	defer clear(all)
	for r := range all {
		if all[r], err = session.Campaign(election.RoleConfig{Role: names[r], Lead: work}); err != nil {
			b.Fatal(err)
		}
		if err := all[r].Start(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	natstest.Eventually(b, "it follows every role, and everybody knows it", patience, func() (bool, string) {
		known := 0
		for _, e := range all {
			if e.LeaderID() == "leader" {
				known++
			}
		}
		described := 0
		for _, m := range session.Members() {
			if len(m.Roles) == roles {
				described++
			}
		}
		return known == roles && described == 2, fmt.Sprintf("%d known, %d members with all roles", known, described)
	})
	heap, goroutines = atRest(followedTTL)
	runtime.KeepAlive(all)
	return heap, goroutines
}

// atRest is what this process holds after it has rested for a while: what a start has left lying is
// let go of with the next beats.
func atRest(d time.Duration) (heap uint64, goroutines int) {
	time.Sleep(d)
	var stats runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc, runtime.NumGoroutine()
}
