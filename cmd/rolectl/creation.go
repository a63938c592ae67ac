package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// printCreation prints what "bucket create" would send, as a command of the nats tool. What it would send is found out by
// sending it, to a server in this process that only listens: so the two cannot differ.
func printCreation(cmd *cobra.Command, cfg natskv.Config) error {
	request, err := creationRequest(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "# revisions begin at the present time, so run it now rather than keep it\nnats request %s %s\n",
		quoted(request.Subject), quoted(strings.ReplaceAll(string(request.Data), `\u003e`, ">")))
	return err
}

// quoted is an argument as a shell reads it: what it holds is JSON and subjects, without single quotes.
func quoted(arg string) string { return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'" }

func creationRequest(ctx context.Context, cfg natskv.Config) (*nats.Msg, error) {
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
	_, err = natskv.Create(ctx, asking, cfg)
	select {
	case m := <-asked:
		return m, nil
	default:
		return nil, errors.Join(err, errors.New("nothing was to be made"))
	}
}
