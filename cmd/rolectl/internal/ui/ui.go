package ui

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/dashboard"
	"github.com/rolemanager/rolemanager/election"
)

// pageServer is one run of the command.
type pageServer struct {
	a          *cli.App
	listen     string
	hosts      []string
	namespaces []string
	options    dashboard.Options
	rights     rights
}

// Command is the command "rolectl ui".
func Command(a *cli.App) *cobra.Command {
	p := &pageServer{a: a}
	cmd := &cobra.Command{
		Use: "ui", Short: "Serve a live page: who leads, what waits and why, and what to do",
		Long: `Serve a live page about a bucket and its tasks until interrupted: who leads what, what nobody leads, what waits and why,
and what to do. The first line on standard output is its address.

Without --steer the page changes nothing, and read-only permissions suffice. Everybody who can reach it sees what an
observer sees: it listens on loopback unless --listen names another address, and asks for no password. Inputs and checkpoints
of tasks are left out without --show-payloads.

With --steer people can step down, transfer, pause, resume, cancel, requeue and drain, each after a confirmation, with the
permissions of this user of NATS. --users names a file with a line for each person, name:bcrypt, as htpasswd -B writes it.
--proxy-auth-header names the header in which a proxy in front of the page tells who is there. Without either, anybody on
this machine may steer, and --listen must be an address of loopback. Passwords need TLS on any other address: --cert, --key.

Without --cert and --proxy-auth-header it answers only requests for localhost, its own address, and names of --host: so
no foreign site can point its name at the page, and read it or steer with the browser of somebody who can reach it.

Without --namespace it shows the namespaces in which members of the bucket work when it begins.`,
		Example: "  rolectl ui\n  rolectl ui --listen 127.0.0.1:0 -n jobs -n mail --title prod-eu --colour '#b00'",
		Args:    cli.CheckArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.serve(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&p.listen, "listen", "127.0.0.1:8223", "address to serve the page at; port 0 takes a free one")
	flags.StringSliceVar(&p.hosts, "host", nil,
		"name under which people or a proxy open the page, may be given several times")
	var ofEnvironment []string
	if n := a.EnvOr("TASKS_NAMESPACE", ""); n != "" {
		ofEnvironment = []string{n}
	}
	flags.StringSliceVarP(&p.namespaces, "namespace", "n", ofEnvironment,
		"namespace of tasks to show, may be given several times (TASKS_NAMESPACE)")
	flags.StringVar(&p.options.Title, "title", "", "name of the system, for people (default: the bucket)")
	flags.StringVar(&p.options.Colour, "colour", "", "colour of the top edge, such as '#b00'")
	flags.StringVar(&p.options.BasePath, "base-path", "", "path below which a proxy mounts the page, such as /roles")
	flags.BoolVar(&p.options.ShowPayloads, "show-payloads", false, "show inputs, checkpoints and headers of tasks")
	p.rights.flags(cmd)
	return cmd
}

func (p *pageServer) serve(cmd *cobra.Command) error {
	ctx := cmd.Context()
	if err := p.rights.check(p.listen); err != nil {
		return cli.UsageError(err)
	}
	opening, cancel, nc, err := p.a.ConnectFor(cmd)
	if err != nil {
		return err
	}
	defer cancel()
	o, err := election.Observe(opening, nc, p.a.Bucket, append(inventory.Reaching(p.a), election.WithWorkers())...)
	if err != nil {
		return err
	}
	defer o.Close()
	clients, err := p.clients(nc, o)
	for _, c := range clients {
		defer c.Close()
	}
	if err != nil {
		return cli.UsageError(err)
	}
	p.options.Observer, p.options.Tasks = o, clients
	p.options.Steer = p.rights.steer()
	h, err := dashboard.New(p.options)
	if err != nil {
		return cli.UsageError(err)
	}
	defer h.Close()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", p.listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("--listen %s: %w: give --listen 127.0.0.1:0 to use a free port", p.listen, err)
	}
	if err != nil {
		return fmt.Errorf("--listen %s: %w", p.listen, err)
	}
	return p.answer(ctx, l, h)
}

// clients are those of the namespaces to show.
func (p *pageServer) clients(nc *nats.Conn, o *election.Observer) (all []*assign.Client, err error) {
	if len(p.namespaces) == 0 {
		found := map[string]bool{}
		for _, m := range o.Members() {
			for namespace := range m.Assign {
				found[namespace] = true
			}
		}
		p.namespaces = slices.Sorted(maps.Keys(found))
	}
	for _, namespace := range p.namespaces {
		c, err := assign.NewClient(nc, assign.ClientConfig{
			Namespace: namespace, Domain: p.a.Target.Domain, APIPrefix: p.a.Target.APIPrefix,
		})
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
	return all, nil
}

// answer serves the page until ctx ends.
func (p *pageServer) answer(ctx context.Context, l net.Listener, h *dashboard.Handler) error {
	s := http.Server{
		Handler: p.guarded(h), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute,
	}
	served, scheme := make(chan error, 1), "http://"
	if p.rights.cert == "" {
		go func() { served <- s.Serve(l) }()
	} else {
		scheme = "https://"
		go func() { served <- s.ServeTLS(l, p.rights.cert, p.rights.key) }()
	}
	if err := p.ready(scheme + l.Addr().String() + p.options.BasePath + "/"); err != nil {
		return errors.Join(err, s.Close())
	}
	if at, ok := l.Addr().(*net.TCPAddr); ok && !at.IP.IsLoopback() {
		p.a.Say("Everybody who reaches %s sees this page: it asks for no password.", l.Addr())
		if p.rights.header != "" && p.rights.cert == "" {
			p.a.Say("Let only the proxy reach it: anybody else can send %s without TLS, and so steer under any name.",
				p.rights.header)
		}
	}
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	h.Close() // which ends the streams
	_ = s.Close()
	<-served
	return nil
}

// guarded is the page, for those who may see it. The host is not looked at with a certificate, to
// which a foreign name does not fit, nor with a proxy that asks for the person.
func (p *pageServer) guarded(h http.Handler) http.Handler {
	h = p.rights.around(p.options.BasePath, h)
	if p.rights.cert != "" || p.rights.header != "" {
		return h
	}
	return cli.OwnHosts(p.listen, p.hosts, h)
}

// ready prints the address of the page.
func (p *pageServer) ready(url string) error {
	out := p.a.Printer()
	if out.Format == "json" {
		return out.Line(struct {
			show.Document
			URL        string   `json:"url"`
			Bucket     string   `json:"bucket"`
			Namespaces []string `json:"namespaces"`
		}{show.Of("ui"), url, p.a.Bucket, append([]string{}, p.namespaces...)})
	}
	_, err := fmt.Fprintln(out.W, url)
	return err
}
