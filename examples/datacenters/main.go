package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rolemanager/rolemanager/examples/datacenters/internal/lab"
)

var sites = [3]string{"oslo", "paris", "rome"}

func main() {
	worst := flag.Bool("worst", false, "cut the site off that leads the replicas of the bucket, too")
	flag.Parse()
	if err := show(*worst); err != nil {
		fmt.Fprintln(os.Stderr, "datacenters:", err)
		os.Exit(1)
	}
}

// show starts the sites, tells the story, and reports.
func show(worst bool) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, 3*time.Minute, errors.New("the story has come to a halt"))
	defer cancel()
	s := &story{journal: newJournal(), worst: worst, processes: map[string]*running{}}
	if s.lab, err = lab.Start(ctx, sites); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.lab.Shutdown()) }()
	if err := errors.Join(s.tell(ctx), s.endAll()); err != nil {
		return err
	}
	r := s.journal.examine()
	fmt.Printf("\n%s", r)
	return errors.Join(append(s.broken, r.verdict())...)
}
