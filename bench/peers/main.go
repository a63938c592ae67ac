// Command peers puts this library and others that do the same through the same jobs, one peer after
// the other, in one run on one machine, and writes every sample as a row of a CSV file.
//
//	go run -C bench/peers . -quick                        does it work? a few minutes; figures worth nothing
//	go run -C bench/peers . -out peers.csv                everything
//	go run -C bench/peers . -jobs crash,handover -peers rolemanager,etcd
//
// It is a module of its own, so that none of the others is a dependency of the library. Every
// process of a peer, and every server, is a process of its own on loopback, ended by its parent.
// Servers that are not linked in (redis, PostgreSQL) are the system's, see install.sh; without them
// their peers are left out, with a word.
//
// Packages: jobs (what is done), elect and queue (the peers), stores (the servers), proc
// (processes), figures (the rows).
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rolemanager/rolemanager/bench/figures"
	"github.com/rolemanager/rolemanager/bench/peers/elect"
	"github.com/rolemanager/rolemanager/bench/peers/jobs"
	"github.com/rolemanager/rolemanager/bench/peers/queue"
	"github.com/rolemanager/rolemanager/bench/peers/stores"
	"github.com/rolemanager/rolemanager/bench/proc"
)

func main() {
	proc.Serve(map[string]proc.Kind{
		stores.Kind: stores.Serve, elect.Kind: elect.Serve, elect.GuardedKind: elect.ServeGuarded, queue.Kind: queue.Serve,
	})
	log.SetFlags(log.Ltime)
	quick := flag.Bool("quick", false, "small sizes: to see that everything works")
	only := flag.String("jobs", "",
		"only these jobs, separated by commas; elections, synced, guards, tasks and reruns are all of theirs")
	of := flag.String("peers", "", "only these peers, separated by commas")
	rounds := flag.Int("rounds", 0, "how often each job of tasks is done, 0: as often as it says")
	out := flag.String("out", "peers.csv", "the file of rows")
	profiles := flag.String("cpuprofile", "", "a folder: there throughput writes a profile of each process")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r := jobs.Run{Quick: *quick, Repeat: *rounds, Profiles: *profiles}
	if err := run(ctx, r, list(*only), list(*of), *out); err != nil {
		log.Fatal(err)
	}
}

func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

func run(ctx context.Context, r jobs.Run, only, of []string, out string) error {
	only, err := expand(only)
	if err != nil {
		return err
	}
	sheet, err := figures.Create(out)
	if err != nil {
		return err
	}
	r.Sheet, r.Log = sheet, log.Printf
	chosen := func(job, peer string) bool {
		return slices.Contains(only, job) && (of == nil || slices.Contains(of, peer))
	}
	r.About(chosen)
	r.Elect(ctx, chosen)
	r.Queue(ctx, chosen)
	log.Printf("rows are in %s, %s", out, time.Now().Format(time.DateTime))
	return sheet.Close()
}

// expand is the names of the jobs that are meant: elections, synced (elections on synced stores),
// guards, tasks and reruns are all of theirs.
func expand(only []string) (all []string, err error) {
	groups := map[string][]string{}
	for _, j := range jobs.Elections {
		groups["elections"] = append(groups["elections"], j.Name)
	}
	for _, j := range jobs.Synced {
		groups["synced"] = append(groups["synced"], j.Name)
	}
	for _, j := range jobs.Guards {
		groups["guards"] = append(groups["guards"], j.Name)
	}
	for _, j := range jobs.Tasks {
		groups["tasks"] = append(groups["tasks"], j.Name)
	}
	for _, j := range jobs.Reruns {
		groups["reruns"] = append(groups["reruns"], j.Name)
	}
	known := slices.Concat(groups["elections"], groups["synced"], groups["guards"], groups["tasks"], groups["reruns"])
	if only == nil {
		return known, nil
	}
	for _, name := range only {
		switch {
		case groups[name] != nil:
			all = append(all, groups[name]...)
		case slices.Contains(known, name):
			all = append(all, name)
		default:
			return nil, fmt.Errorf("no job %q: there are elections, synced, guards, tasks, reruns, %s", name,
				strings.Join(known, ", "))
		}
	}
	return all, nil
}
