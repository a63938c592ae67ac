package cli

import (
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

// GlobalFlags defines the flags that every command has: where NATS is, the bucket and the format of
// the output.
func (a *App) GlobalFlags(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	s := &a.Settings
	flags.StringVarP(&s.Server, "server", "s", "", "URL of the NATS server, several separated by commas (NATS_URL)")
	flags.StringVar(&s.Discover, "discover", "",
		"where to look the servers up once, instead of --server: file:///path, srv://name, consul://host/service, "+
			"etcd://host/prefix, k8s://namespace/service")
	flags.StringVar(&s.User, "user", "", "user name, or a token when there is no password (NATS_USER)")
	flags.StringVar(&s.Password, "password", "", "password (NATS_PASSWORD)")
	flags.StringVar(&s.Creds, "creds", "", "file with the credentials (NATS_CREDS)")
	flags.StringVar(&s.NKey, "nkey", "", "file with an nkey seed (NATS_NKEY)")
	flags.StringVar(&s.Cert, "tlscert", "", "client certificate (NATS_CERT)")
	flags.StringVar(&s.Key, "tlskey", "", "its private key (NATS_KEY)")
	flags.StringVar(&s.CA, "tlsca", "", "certificate authority of the server (NATS_CA)")
	flags.BoolVar(&s.TLSFirst, "tlsfirst", false, "start TLS before the server sends anything (NATS_TLS_FIRST)")
	flags.StringVar(&s.InboxPrefix, "inbox-prefix", "",
		"prefix of the subjects for answers, if permissions prescribe one (NATS_INBOX_PREFIX)")
	flags.StringVar(&s.Domain, "js-domain", "", "JetStream domain that keeps the bucket (NATS_JS_DOMAIN)")
	flags.StringVar(&s.APIPrefix, "js-api-prefix", "",
		"prefix of a JetStream API that another account exports (NATS_JS_API_PREFIX)")
	flags.StringVar(&s.Context, "context", "", "context of the nats tool (NATS_CONTEXT, else the selected one)")
	flags.BoolVar(&s.NoContext, "no-context", false, "use no context, not even the selected one")
	flags.Var(&durationValue{&s.Timeout, ShortestWait}, "timeout",
		"how long to wait for the server (NATS_TIMEOUT, default 5s)")
	flags.StringVarP(&a.Bucket, "bucket", "b", a.EnvOr("ROLES_BUCKET", "roles"), "bucket of the roles (ROLES_BUCKET)")
	a.Format = "table"
	flags.VarP(&choiceValue{&a.Format, show.Formats}, "output", "o", "table, wide, json or name")
	CompleteFlag(cmd, "output", show.Formats...)
	a.Color = "auto"
	flags.Var(&choiceValue{&a.Color, show.Colors}, "color",
		"colours: auto (on a terminal, unless NO_COLOR is set), always or never")
	CompleteFlag(cmd, "color", show.Colors...)
	CompleteFlagBy(cmd, "context", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return s.Env.Contexts(), cobra.ShellCompDirectiveNoFileComp
	})
	CompleteFlagBy(cmd, "bucket",
		func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return a.CompleteBuckets(cmd, nil, typed)
		})
}
