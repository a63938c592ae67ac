package main

import (
	"bytes"
	"encoding/json"
)

// The parts of Grafana's format that the dashboard uses.
type (
	dashboard struct {
		UID           string    `json:"uid"`
		Title         string    `json:"title"`
		Description   string    `json:"description"`
		Tags          []string  `json:"tags"`
		SchemaVersion int       `json:"schemaVersion"`
		Editable      bool      `json:"editable"`
		Refresh       string    `json:"refresh"`
		Time          span      `json:"time"`
		Templating    variables `json:"templating"`
		Panels        []panel   `json:"panels"`
	}
	span struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	variables struct {
		List []variable `json:"list"`
	}
	variable struct {
		Name       string  `json:"name"`
		Label      string  `json:"label"`
		Type       string  `json:"type"`
		Query      string  `json:"query"`
		Datasource *source `json:"datasource,omitempty"`
		Refresh    int     `json:"refresh"` // 2: when the time range changes
		Multi      bool    `json:"multi"`
		IncludeAll bool    `json:"includeAll"`
		AllValue   string  `json:"allValue,omitempty"`
		Sort       int     `json:"sort"`
	}
	source struct {
		Type string `json:"type"`
		UID  string `json:"uid"`
	}
	panel struct {
		ID          int             `json:"id"`
		Type        string          `json:"type"`
		Title       string          `json:"title"`
		Description string          `json:"description,omitempty"`
		GridPos     place           `json:"gridPos"`
		Datasource  *source         `json:"datasource,omitempty"`
		Targets     []target        `json:"targets,omitempty"`
		FieldConfig *fieldConfig    `json:"fieldConfig,omitempty"`
		Options     map[string]any  `json:"options,omitempty"`
		Transforms  []transform     `json:"transformations,omitempty"`
		Collapsed   *bool           `json:"collapsed,omitempty"`
		Panels      json.RawMessage `json:"panels,omitempty"`
	}
	place struct {
		H int `json:"h"`
		W int `json:"w"`
		X int `json:"x"`
		Y int `json:"y"`
	}
	target struct {
		RefID   string `json:"refId"`
		Expr    string `json:"expr"`
		Legend  string `json:"legendFormat"`
		Instant bool   `json:"instant"`
		Range   bool   `json:"range"`
		Format  string `json:"format"`
	}
	fieldConfig struct {
		Defaults  fieldDefaults `json:"defaults"`
		Overrides []any         `json:"overrides"`
	}
	fieldDefaults struct {
		Unit       string      `json:"unit"`
		Min        *float64    `json:"min,omitempty"`
		Thresholds *thresholds `json:"thresholds,omitempty"`
	}
	thresholds struct {
		Mode  string `json:"mode"`
		Steps []step `json:"steps"`
	}
	step struct {
		Color string   `json:"color"`
		Value *float64 `json:"value"`
	}
	transform struct {
		ID      string         `json:"id"`
		Options map[string]any `json:"options"`
	}
)

// width is that of Grafana's grid.
const width = 24

// render lays the sections out, and writes the dashboard.
func render() ([]byte, error) {
	d := dashboard{
		UID: "rolemanager", Title: "rolemanager", Tags: []string{"rolemanager", "nats"}, SchemaVersion: 39,
		Description: "Roles, members and tasks of a bucket. Written by go run ./deploy/grafana.",
		Refresh:     "30s", Time: span{"now-3h", "now"}, Templating: variables{selections()},
	}
	y := 0
	for _, s := range sections {
		open := false
		d.Panels = append(d.Panels, panel{
			ID: len(d.Panels) + 1, Type: "row", Title: s.title, GridPos: place{1, width, 0, y}, Collapsed: &open,
			Panels: json.RawMessage("[]"),
		})
		y++
		x := 0
		for _, v := range s.views {
			if x+v.width > width {
				x, y = 0, y+s.height
			}
			d.Panels = append(d.Panels, v.panel(len(d.Panels)+1, place{s.height, v.width, x, y}))
			x += v.width
		}
		y += s.height
	}
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false)
	to.SetIndent("", "  ")
	err := to.Encode(d)
	return text.Bytes(), err
}

// panel is a view at its place.
func (v view) panel(id int, at place) panel {
	p := panel{
		ID: id, Type: v.kind, Title: v.title, Description: v.about, GridPos: at,
		Datasource: &source{"prometheus", "${datasource}"}, Options: map[string]any{},
		FieldConfig: &fieldConfig{Defaults: fieldDefaults{Unit: v.unit}, Overrides: []any{}},
	}
	zero := 0.0
	p.FieldConfig.Defaults.Min = &zero
	for i, q := range v.queries {
		t := target{RefID: string(rune('A' + i)), Expr: q.expr, Legend: q.legend, Range: true, Format: "time_series"}
		if v.kind != graph {
			t.Instant, t.Range = true, false
		}
		if v.kind == table {
			t.Format = "table"
		}
		p.Targets = append(p.Targets, t)
	}
	switch v.kind {
	case stat:
		p.Options["reduceOptions"] = map[string]any{"calcs": []string{"lastNotNull"}, "fields": "", "values": false}
		p.Options["colorMode"] = "background"
		p.FieldConfig.Defaults.Thresholds = &thresholds{Mode: "absolute", Steps: []step{{Color: "green"}}}
		if v.bad > 0 {
			p.FieldConfig.Defaults.Thresholds.Steps = append(p.FieldConfig.Defaults.Thresholds.Steps, step{"red", &v.bad})
		}
	case graph:
		p.Options["legend"] = map[string]any{"displayMode": "list", "placement": "bottom", "showLegend": true}
		p.Options["tooltip"] = map[string]any{"mode": "multi", "sort": "desc"}
	case table:
		p.Transforms = []transform{
			{"merge", map[string]any{}},
			{"organize", map[string]any{
				"excludeByName": map[string]bool{"Time": true, "Value #A": true}, "renameByName": v.rename,
			}},
		}
	}
	return p
}
