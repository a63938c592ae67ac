package exporter

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/exporter"
)

// server is one run of the command.
type server struct {
	a       *cli.App
	listen  string
	hosts   []string
	stale   time.Duration
	examine time.Duration
}

// Command is the command "rolectl exporter".
func Command(a *cli.App) *cobra.Command {
	s := &server{a: a}
	cmd := &cobra.Command{
		Use: "exporter", Short: "Serve what the bucket says as Prometheus metrics",
		Long: `Serve what the bucket says as Prometheus metrics, until interrupted: who leads each role and since when nobody does, the
age of the heartbeats of all members, what rolectl doctor finds, and how full the streams are. The first line on standard
output is the address of the metrics. docs/reference/metrics.md has their names.

It only reads: the permissions of an observer suffice. With those of an observer that runs doctor it also finds what is wrong
with the account, the servers and tasks. Everybody who can reach it sees what an observer sees: it listens on loopback unless
--listen names another address, and asks for no password. On loopback it answers only requests for localhost, an address of
loopback, and names of --host.

While it does not know the present state of the bucket it says so, and all series but roles_view_age_seconds leave. Several
exporters of one bucket show the same, so two of them on two machines are enough.`,
		Example: "  rolectl exporter\n  rolectl exporter --listen :9223 --doctor-every 5m",
		Args:    cli.CheckArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&s.listen, "listen", "127.0.0.1:9223", "address to serve /metrics at; port 0 takes a free one")
	flags.StringSliceVar(&s.hosts, "host", nil,
		"name under which a proxy on this machine reads it, may be given several times")
	cli.DurationFlag(cmd, &s.stale, "stale-after", 0, 10*time.Second, "how old a view may be that is still shown")
	cli.DurationFlag(cmd, &s.examine, "doctor-every", 0, time.Minute,
		"how often to run the checks of rolectl doctor, 0 for never; a run watches for 2s")
	return cmd
}

func (s *server) run(cmd *cobra.Command) error {
	ctx := cmd.Context()
	// A server that falls silent is noticed within six seconds.
	if _, err := s.a.Connect(nats.MaxReconnects(-1), nats.PingInterval(2*time.Second),
		nats.MaxPingsOutstanding(2)); err != nil {
		return err
	}
	opening, cancel, nc, err := s.a.ConnectFor(cmd)
	if err != nil {
		return err
	}
	defer cancel()
	o, err := election.Observe(opening, nc, s.a.Bucket, append(inventory.Reaching(s.a), election.WithWorkers())...)
	if err != nil {
		return err
	}
	defer o.Close()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", s.listen, err)
	}
	ctx, end := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer end()
	c := exporter.New(o, s.stale)
	wg.Go(func() { s.tell(ctx, o) })
	if s.examine > 0 {
		wg.Go(func() { s.examineAlways(ctx, o, c) })
	}
	return s.answer(ctx, l, o, c)
}

// answer serves the metrics until ctx or the observer ends.
func (s *server) answer(ctx context.Context, l net.Listener, o *election.Observer, c *exporter.Collector) error {
	registry := prometheus.NewRegistry()
	if err := registry.Register(c); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 8,
	}))
	web := http.Server{
		Handler: s.guarded(l, mux), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
	}
	served := make(chan error, 1)
	go func() { served <- web.Serve(l) }()
	if err := s.ready("http://" + l.Addr().String() + "/metrics"); err != nil {
		return errors.Join(err, web.Close())
	}
	select {
	case err := <-served:
		return err
	case <-o.Done(): // by a fault that no waiting mends
	case <-ctx.Done():
	}
	_ = web.Close()
	<-served
	return o.Err()
}

// guarded refuses foreign hosts on loopback, where browsers of this machine could be led to.
// Elsewhere the scraper comes by whatever name it has been given.
func (s *server) guarded(l net.Listener, h http.Handler) http.Handler {
	if at, ok := l.Addr().(*net.TCPAddr); ok && !at.IP.IsLoopback() {
		s.a.Say("Everybody who reaches %s sees these metrics: they need no password.", l.Addr())
		return h
	}
	return cli.OwnHosts(s.listen, s.hosts, h)
}

// ready prints the address of the metrics.
func (s *server) ready(url string) error {
	out := s.a.Printer()
	if out.Format == "json" {
		return out.Line(struct {
			show.Document
			URL    string `json:"url"`
			Bucket string `json:"bucket"`
		}{show.Of("exporter"), url, s.a.Bucket})
	}
	_, err := fmt.Fprintln(out.W, url)
	return err
}

// tell says when what is known of the bucket may be old, and when it is not any more.
func (s *server) tell(ctx context.Context, o *election.Observer) {
	const lookEvery, atLeast = 250 * time.Millisecond, time.Second // a new watch is made in less
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	old := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		switch age := o.StaleFor(); {
		case age > atLeast && !old:
			old = true
			why := "the server has fallen silent"
			if !o.Connected() {
				why = "there is no connection to NATS"
			}
			s.a.Say("The view of bucket %s may be old: %s. After %s its series are left out.", s.a.Bucket, why, s.stale)
		case age == 0 && old:
			old = false
			s.a.Say("Bucket %s is followed again.", s.a.Bucket)
		}
	}
}
