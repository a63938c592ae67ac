package dryrun

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// Creation creates one stream over a connection.
type Creation func(ctx context.Context, nc *nats.Conn) error

// request is the request that a creation sends.
type request struct {
	Subject string          `json:"subject"`
	Body    json.RawMessage `json:"body"`
	Command string          `json:"command"` // the same for the nats tool
}

// Print prints the requests of creations, as commands of the nats tool. The creations run against
// a server in this process that only records requests. So a dry run and a real run cannot differ.
func Print(a *cli.App, cmd *cobra.Command, name string, creations ...Creation) error {
	target, err := a.Settings.Resolve()
	if err != nil {
		return cli.UsageError(err)
	}
	requests, err := capture(cmd.Context(), target.Reach, creations)
	if err != nil {
		return err
	}
	p := a.Printer()
	switch p.Format {
	case "json":
		return p.JSON(struct {
			show.Document
			Name     string    `json:"name"`
			Requests []request `json:"requests"`
		}{show.Of("creation"), name, requests})
	case "name":
		return p.Print(show.Table{Rows: []show.Row{{Name: name}}})
	}
	text := "# the first revision is the present time: run this now, do not keep it\n"
	for _, r := range requests {
		text += r.Command + "\n"
	}
	_, err = p.W.Write([]byte(text))
	return err
}

// quoted is an argument in single quotes for a shell.
func quoted(arg string) string { return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'" }

func capture(ctx context.Context, reach natskv.Reach, creations []Creation) (all []request, err error) {
	s, err := natsrun.Start(natsrun.Options{Configure: func(o *server.Options) { o.JetStream, o.StoreDir = false, "" }})
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Shutdown() }() // nothing was stored
	listening, err := s.Connect()
	if err != nil {
		return nil, err
	}
	defer listening.Close()
	asked := make(chan *nats.Msg, len(creations)) // one request each
	_, err = listening.Subscribe(reach.API("STREAM.>"), func(m *nats.Msg) {
		answer := `{"error":{"code":404,"err_code":10059,"description":"stream not found"}}`
		if strings.HasPrefix(m.Subject, reach.API("STREAM.CREATE.")) {
			answer = `{"error":{"code":500,"err_code":10052,"description":"this server only records requests"}}`
			asked <- m
		}
		_ = m.Respond([]byte(answer)) // without an answer the creation returns an error
	})
	if err != nil {
		return nil, err
	}
	_, err = listening.Subscribe(reach.API("INFO"), func(m *nats.Msg) { _ = m.Respond([]byte("{}")) }) // no domain
	if err != nil {
		return nil, err
	}
	if err := listening.Flush(); err != nil {
		return nil, err
	}
	asking, err := s.Connect()
	if err != nil {
		return nil, err
	}
	defer asking.Close()
	for _, create := range creations {
		refused := create(ctx, asking)
		select {
		case m := <-asked:
			body := strings.ReplaceAll(string(m.Data), `\u003e`, ">")
			all = append(all, request{
				m.Subject, json.RawMessage(body),
				"nats request " + quoted(m.Subject) + " " + quoted(body),
			})
		default:
			return nil, fmt.Errorf("nothing would be created: %w", refused)
		}
	}
	return all, nil
}
