//go:build realtime

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

const rerunTTL = time.Second

// kennel starts workers as processes of their own, and hears which tasks they begin.
type kennel struct {
	b     *testing.B
	s     *natsrun.Server
	begun <-chan *nats.Msg
	alive map[string]*exec.Cmd
	count int
}

func (k *kennel) start() {
	k.count++
	name := fmt.Sprint("worker-", k.count)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childURL+"="+k.s.URL(), childName+"="+name)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		k.b.Fatal(err)
	}
	k.alive[name] = cmd
}

func (k *kennel) kill(name string) {
	cmd := k.alive[name]
	delete(k.alive, name)
	_ = cmd.Process.Kill() // SIGKILL
	_ = cmd.Wait()         // says that it was killed
}

// next is the next task that a worker begins, and which worker.
func (k *kennel) next() (task, worker string) {
	m := receive(k.b, "a task that begins", k.begun)
	return string(m.Data), m.Subject[len("bench.runs."):]
}

// BenchmarkRerun: a worker's process is killed with SIGKILL; how long until each task that it held
// begins elsewhere, at a TTL of one second.
func BenchmarkRerun(b *testing.B) {
	const tasks, rounds = 8, 20
	st := store{storage: stores[1].storage, replicas: 1}
	s := natstest.Server(b, natstest.Listen)
	st.enter(b, s, "scheduler", true, nil, func(sc *election.SessionConfig, ac *assign.Config) {
		sc.TTL, ac.CrashBudget = rerunTTL, 999
	})
	begun := make(chan *nats.Msg, 64) // more than tasks in one round
	if _, err := natstest.Connect(b, s).ChanSubscribe("bench.runs.*", begun); err != nil {
		b.Fatal(err)
	}
	k := &kennel{b: b, s: s, begun: begun, alive: map[string]*exec.Cmd{}}
	b.Cleanup(func() {
		for name := range k.alive {
			k.kill(name)
		}
	})
	k.start()
	k.start()
	c := st.client(b, s)
	for range tasks {
		if _, err := assign.Submit(b.Context(), c, hold, ""); err != nil {
			b.Fatal(err)
		}
	}
	at := map[string]string{} // worker by task
	for len(at) < tasks {
		task, worker := k.next()
		at[task] = worker
	}
	var took sample
	late := overshoot()
	for b.Loop() {
		for range rounds {
			held := map[string]int{}
			victim := ""
			for _, worker := range at {
				if held[worker]++; held[worker] > held[victim] {
					victim = worker
				}
			}
			k.start() // takes what the victim leaves, with the other one
			killed := time.Now()
			k.kill(victim)
			for n := held[victim]; n > 0; n-- {
				task, worker := k.next()
				took.add(time.Since(killed))
				at[task] = worker
			}
		}
	}
	took.report(b, "")
	b.ReportMetric(ms(late().at(0.99)), "overshoot-p99-ms")
	b.ReportMetric(0, "ns/op")
}
