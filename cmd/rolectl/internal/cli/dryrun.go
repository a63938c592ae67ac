package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// Creation makes one stream over a connection.
type Creation func(ctx context.Context, nc *nats.Conn) error

// dryRunRequest is what a creation sends.
type dryRunRequest struct {
	Subject string          `json:"subject"`
	Body    json.RawMessage `json:"body"`
	Command string          `json:"command"` // the same for the nats tool
}

// PrintDryRun prints what creations would send, as commands of the nats tool. What they would send is found out by sending
// it, to a server in this process that only listens: so the two cannot differ.
func (a *App) PrintDryRun(cmd *cobra.Command, name string, creations ...Creation) error {
	requests, err := captureRequests(cmd.Context(), creations)
	if err != nil {
		return err
	}
	p := a.Printer()
	switch p.Format {
	case "json":
		return p.JSON(struct {
			show.Document
			Name     string          `json:"name"`
			Requests []dryRunRequest `json:"requests"`
		}{show.Of("creation"), name, requests})
	case "name":
		return p.Print(show.Table{Rows: []show.Row{{Name: name}}})
	}
	text := "# revisions begin at the present time, so run it now rather than keep it\n"
	for _, r := range requests {
		text += r.Command + "\n"
	}
	_, err = p.W.Write([]byte(text))
	return err
}

// quoted is an argument as a shell reads it: what it holds is JSON and subjects, without single quotes.
func quoted(arg string) string { return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'" }

func captureRequests(ctx context.Context, creations []Creation) (all []dryRunRequest, err error) {
	s, err := natsrun.Start(natsrun.Options{Configure: func(o *server.Options) { o.JetStream, o.StoreDir = false, "" }})
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Shutdown() }() // it has stored nothing
	listening, err := s.Connect()
	if err != nil {
		return nil, err
	}
	defer listening.Close()
	asked := make(chan *nats.Msg, len(creations)) // each asks once
	_, err = listening.Subscribe("$JS.API.STREAM.>", func(m *nats.Msg) {
		answer := `{"error":{"code":404,"err_code":10059,"description":"stream not found"}}`
		if strings.HasPrefix(m.Subject, "$JS.API.STREAM.CREATE.") {
			answer = `{"error":{"code":500,"err_code":10052,"description":"this server only listens"}}`
			asked <- m
		}
		_ = m.Respond([]byte(answer)) // who hears nothing says so
	})
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
			all = append(all, dryRunRequest{m.Subject, json.RawMessage(body), "nats request " + quoted(m.Subject) + " " + quoted(body)})
		default:
			return nil, fmt.Errorf("nothing would be made: %w", refused)
		}
	}
	return all, nil
}
