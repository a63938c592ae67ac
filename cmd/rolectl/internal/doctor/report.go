package doctor

import (
	"fmt"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

var severityTones = [...]show.Tone{show.Good, show.Warning, show.Bad, show.Warning}

func report(a *cli.App, found findings) error {
	p := a.Printer()
	if found == nil {
		found = findings{}
	}
	switch p.Format {
	case "json":
		return p.JSON(struct {
			show.Document
			Bucket   string   `json:"bucket"`
			Status   severity `json:"status"`
			Findings findings `json:"findings"`
		}{show.Of("doctor"), a.Bucket, found.worst(), found})
	case "name":
		t, named := show.Table{}, map[string]bool{}
		for _, f := range found {
			if f.Level != healthy && !named[f.Check] {
				named[f.Check] = true
				t.Rows = append(t.Rows, show.Row{Name: f.Check})
			}
		}
		return p.Print(t)
	}
	for _, f := range found {
		text := p.Paint(severityTones[f.Level], fmt.Sprintf("%-8s", f.Level)) +
			fmt.Sprintf("  %-11s  %s\n", f.Check, show.Clean(f.Message))
		if f.Fix != "" {
			text += fmt.Sprintf("%8s  %11s  fix: %s\n", "", "", show.Clean(f.Fix))
		}
		if _, err := p.W.Write([]byte(text)); err != nil {
			return err
		}
	}
	return nil
}
