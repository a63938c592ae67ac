// Command peers puts this library and others that do the same through the same jobs, one peer after the other, in one run on
// one machine, and writes every sample as a row of a CSV file.
//
//	go run -C bench/peers . -quick                        does it work? a few minutes; figures worth nothing
//	go run -C bench/peers . -out peers.csv                everything
//	go run -C bench/peers . -jobs crash,handover -peers rolemanager,etcd
//
// It is a module of its own, so that none of the others is a dependency of the library. Every process of a peer, and every
// server, is a process of its own on loopback, ended by its parent. Servers that are not linked in (redis, PostgreSQL) are
// the system's, see install.sh; without them their peers are left out, with a word.
//
// Packages: jobs (what is done), elect and queue (the peers), stores (the servers), proc (processes), figures (the rows).
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
	proc.Serve(map[string]proc.Kind{stores.Kind: stores.Serve, elect.Kind: elect.Serve, queue.Kind: queue.Serve})
	log.SetFlags(log.Ltime)
	quick := flag.Bool("quick", false, "small sizes: to see that everything works")
	only := flag.String("jobs", "", "only these jobs, separated by commas")
	of := flag.String("peers", "", "only these peers, separated by commas")
	out := flag.String("out", "peers.csv", "the file of rows")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *quick, list(*only), list(*of), *out); err != nil {
		log.Fatal(err)
	}
}

func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

func run(ctx context.Context, quick bool, only, of []string, out string) error {
	for _, name := range only {
		if !slices.ContainsFunc(jobs.Elections, func(j jobs.Election) bool { return j.Name == name }) &&
			!slices.ContainsFunc(jobs.Tasks, func(j jobs.Task) bool { return j.Name == name }) {
			return fmt.Errorf("no job %q", name)
		}
	}
	sheet, err := figures.Create(out)
	if err != nil {
		return err
	}
	r := &jobs.Run{Quick: quick, Sheet: sheet, Log: log.Printf}
	chosen := func(all []string, name string) bool { return all == nil || slices.Contains(all, name) }
	r.About(func(peer string) bool { return chosen(of, peer) })
	for _, j := range jobs.Elections {
		for _, p := range elect.Peers {
			if ctx.Err() == nil && chosen(only, j.Name) && chosen(of, p.Name) {
				r.Attempt(j.Name, p.Name, func() error { return j.Do(ctx, r, p) })
			}
		}
	}
	for _, j := range jobs.Tasks {
		for _, p := range queue.Peers {
			if ctx.Err() == nil && chosen(only, j.Name) && chosen(of, p.Name) {
				r.Attempt(j.Name, p.Name, func() error { return j.Do(ctx, r, p) })
			}
		}
	}
	log.Printf("rows are in %s, %s", out, time.Now().Format(time.DateTime))
	return sheet.Close()
}
