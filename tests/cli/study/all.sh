# Every figure of a tiny study is there and judged; most of the time is sleep.
weir study s --quick --images 8 --iterations 2 -r 2 -t 1,2 --width 0.05 --quiet >text
python3 - <<'END'
import json
r = json.load(open('s/study.json'))
ids = ['table1', 'fig4', 'fig5', 'fig6', 'fig7', 'fig8', 'fig9', 'fig10', 'formats']
assert [f['id'] for f in r['figures']] == ids
for f in r['figures']:
    assert f['complete'], f['id']
    assert f['verdict'] in ('holds', 'does not hold', 'cannot be seen here')
    assert f['why'] and f['parts'], f['id']
    for p in f['parts']:
        for s in p['series']:
            assert len(s['values']) == len(p['labels']), (f['id'], p['title'])
fig = dict(zip(ids, r['figures']))
assert [len(l['series']) for l in fig['fig8']['lines']] == [2, 2]
assert [len(l['series']) for l in fig['fig10']['lines']] == [1, 2]
assert sum(fig['fig8']['lines'][0]['series'][0]['y']) > 0
assert len(fig['table1']['table']['rows']) == 5
END
[ -z "$(find s/data -name 'run-*')" ]
