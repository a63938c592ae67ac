package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// The roles of the program, and where a member publishes the address of its HTTP endpoint.
const (
	schedulerRole = "scheduler"
	metricsRole   = "metrics"
	networkRole   = "network"
	metaURL       = "http"
)

// status is what an instance serves under /status, as far as it matters here.
type status struct {
	Roles []struct {
		Name, Leader string
		Epoch        uint64
	}
	Members []struct {
		Instance string
		Meta     map[string]string
	}
}

// leader leads a role as far as that instance knows, "" for nobody.
func (s status) leader(role string) string {
	for _, r := range s.Roles {
		if r.Name == role {
			return r.Leader
		}
	}
	return ""
}

// url is the HTTP endpoint of a member, "" if it is none.
func (s status) url(instance string) string {
	for _, m := range s.Members {
		if m.Instance == instance {
			return m.Meta[metaURL]
		}
	}
	return ""
}

// has reports whether an instance is a member.
func (s status) has(instance string) bool { return slices.Contains(s.members(), instance) }

func (s status) members() (all []string) {
	for _, m := range s.Members {
		all = append(all, m.Instance)
	}
	return all
}

// readStatus asks one instance. An instance that does not answer has no roles and no members.
func readStatus(url string) (s status) {
	_ = read(url+"/status", func(_ http.Header, body io.Reader) error { return json.NewDecoder(body).Decode(&s) })
	return s
}

// samples are the metrics of one endpoint.
type samples struct {
	header   http.Header
	families map[string]*dto.MetricFamily
}

func readMetrics(url string) (s samples, err error) {
	err = read(url, func(header http.Header, body io.Reader) (err error) {
		parser := expfmt.NewTextParser(model.UTF8Validation)
		s.header = header
		s.families, err = parser.TextToMetricFamilies(body)
		return err
	})
	return s, err
}

// total adds up the counters and gauges of one name. A histogram counts its samples.
func (s samples) total(name string) (sum float64) {
	for _, m := range s.families[name].GetMetric() {
		sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
	}
	return sum
}

// by is the gauge of one name by the values of one label.
func (s samples) by(name, label string) map[string]float64 {
	values := map[string]float64{}
	for _, m := range s.families[name].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == label {
				values[l.GetValue()] = m.GetGauge().GetValue()
			}
		}
	}
	return values
}

// read gets one page of an instance.
func read(url string, decode func(http.Header, io.Reader) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", url, res.Status)
	}
	return decode(res.Header, res.Body)
}
