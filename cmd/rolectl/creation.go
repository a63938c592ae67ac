package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// printCreation prints what a creation would send, as a command of the nats tool. What it would send is found out by sending
// it, to a server in this process that only listens: so the two cannot differ.
func printCreation(cmd *cobra.Command, create func(ctx context.Context, nc *nats.Conn) error) error {
	request, err := creationRequest(cmd.Context(), create)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "# revisions begin at the present time, so run it now rather than keep it\nnats request %s %s\n",
		quoted(request.Subject), quoted(strings.ReplaceAll(string(request.Data), `\u003e`, ">")))
	return err
}

// quoted is an argument as a shell reads it: what it holds is JSON and subjects, without single quotes.
func quoted(arg string) string { return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'" }

func creationRequest(ctx context.Context, create func(ctx context.Context, nc *nats.Conn) error) (*nats.Msg, error) {
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
	asked := make(chan *nats.Msg, 1) // one creation
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
	err = create(ctx, asking)
	select {
	case m := <-asked:
		return m, nil
	default:
		return nil, fmt.Errorf("nothing would be made: %w", err)
	}
}
