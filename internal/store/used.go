package store

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"sibyl/internal/journal"
)

const uncounted = `SELECT started_at, id, assistant, status, 0, 0, 0, 0 FROM run
	WHERE owner = $2 AND started_at >= $3 AND started_at < $4 AND `

// UsedBetween implements journal.Store.
func (db *DB) UsedBetween(
	ctx context.Context, owner journal.Owner, times ...time.Time,
) (kept []journal.UsedAt, others []journal.Uncounted, err error) {
	var spans [][2]int64
	for i := range len(times) - 1 {
		spans = append(spans, [2]int64{times[i].UnixMilli(), times[i+1].UnixMilli()})
	}
	if len(spans) == 0 {
		return nil, nil, nil
	}
	given, err := json.Marshal(spans)
	if err != nil {
		return nil, nil, err
	}
	type sum struct {
		journal.UsedAt // with a status, the Model is the id of a run whose usage is not kept
		assistant      string
		status         journal.Status
	}
	scan := func(r row, s *sum) error {
		return r.Scan(millis{&s.At}, &s.Model, &s.assistant, &s.status, &s.Runs, &s.Input, &s.Cached, &s.Output)
	}
	// A cross join has SQLite look up the rows of each span.
	rows, err := readRows(ctx, db, scan, `
		SELECT min(started_at), model, '', '', CAST(sum(runs) AS bigint), CAST(sum(input) AS bigint),
			CAST(sum(cached) AS bigint), CAST(sum(output) AS bigint)
		FROM `+eachGiven+` CROSS JOIN used
		WHERE owner = $2 AND started_at >= CAST(given.value ->> 0 AS bigint)
		AND started_at < CAST(given.value ->> 1 AS bigint) GROUP BY given.key, model
		UNION ALL `+uncounted+`status = 'running'
		UNION ALL `+uncounted+`status <> 'running' AND counted = 0
		ORDER BY 1, 2`, string(given), string(owner), spans[0][0], spans[len(spans)-1][1])
	for _, r := range rows {
		if r.status == "" {
			kept = append(kept, r.UsedAt)
		} else {
			others = append(others, journal.Uncounted{Key: journal.Key{Owner: owner, Run: r.Model}, Assistant: r.assistant,
				StartedAt: r.At, Ended: r.status != journal.Running})
		}
	}
	return kept, others, err
}

// UsedBy implements journal.Store.
func (db *DB) UsedBy(
	ctx context.Context, runs []journal.Key,
) (kept map[journal.Key][]journal.Used, others []journal.Uncounted, err error) {
	given, err := keysJSON(runs)
	if err != nil {
		return nil, nil, err
	}
	type part struct { // the usage of a model in a run
		run     journal.Uncounted
		status  journal.Status
		counted bool
		journal.Used
	}
	scan := func(r row, p *part) error {
		return r.Scan(&p.run.Owner, &p.run.Run, &p.run.Assistant, millis{&p.run.StartedAt}, &p.status, &p.counted,
			&p.Model, &p.Input, &p.Cached, &p.Output)
	}
	rows, err := readRows(ctx, db, scan, `
		SELECT run.owner, run.id, assistant, run.started_at, status, counted = 1, coalesce(model, ''),
			coalesce(input, 0), coalesce(cached, 0), coalesce(output, 0)
		FROM `+eachGiven+` JOIN run ON run.id = given.value ->> 1 AND run.owner = given.value ->> 0
		LEFT JOIN used ON used.owner = run.owner AND used.started_at = run.started_at AND used.run = run.no
		ORDER BY given.key, model`, given)
	kept = map[journal.Key][]journal.Used{}
	for _, r := range rows {
		switch {
		case !r.counted:
			r.run.Ended = r.status != journal.Running
			others = append(others, r.run)
		case r.Model == "": // it used none
			kept[r.run.Key] = nil
		default:
			kept[r.run.Key] = append(kept[r.run.Key], r.Used)
		}
	}
	return kept, others, err
}

// KeepUsed implements journal.Store.
func (db *DB) KeepUsed(ctx context.Context, all map[journal.Key][]journal.Used) error {
	// in one order, so that two calls do not deadlock
	keys := slices.SortedFunc(maps.Keys(all), func(a, b journal.Key) int { return cmp.Compare(a.Run, b.Run) })
	return db.write(ctx, func(t *tx) error {
		for _, k := range keys {
			found, err := queryRows(t, scanValue[string], `
				UPDATE run SET counted = 1 WHERE id = $1 AND owner = $2 AND status <> 'running' AND counted = 0 RETURNING id`,
				k.Run, string(k.Owner))
			if err != nil {
				return err
			}
			if len(found) > 0 {
				t.addUsed(k.Owner, k.Run, all[k])
			}
		}
		return nil
	})
}

// addUsed adds the usage of a run that has been locked.
func (t *tx) addUsed(owner journal.Owner, run string, used []journal.Used) {
	for i, u := range journal.SumUsed(used...) {
		t.run(`
			INSERT INTO used (owner, started_at, run, model, runs, input, cached, output)
			SELECT owner, started_at, no, CAST($3 AS text), CAST($4 AS bigint), CAST($5 AS bigint), CAST($6 AS bigint),
				CAST($7 AS bigint)
			FROM run WHERE id = $1 AND owner = $2`,
			run, string(owner), u.Model, oneIf(i == 0), int64(u.Input), int64(u.Cached), int64(u.Output))
	}
}
