"""The examples that end the text of ``--help``, of all commands and of each."""

ALL = """\
examples:
  mklviz serve                                     open the dashboard in the browser
  mklviz run --data sonar --solvers level          one solve
  mklviz race --scenario silp-oscillates           a race of several solvers
  mklviz path --data liver --vary C=1000:0.01:100  one solver along 100 values of C
  mklviz fit mine.csv --target class               a model of your own table, in a file
  mklviz predict model.skops new.csv               what it says of other rows
  mklviz lab --data sonar --knob level.lam         one page in which the knob turns, for a browser without a server
  mklviz page playground --out mkl.html            one page in which four solvers answer every touch, without a server
  mklviz sweep "data=sonar,heart; split=0...19"    all runs of a recipe with lists, which nothing finished repeats
  mklviz reproduce --quick                         which claims of the papers reproduce
  mklviz runs list --where "sonar gap<1e-3"        the runs so far, searched
  mklviz check my_solver.py                        whether a plug-in of yours keeps what its kind promises
  mklviz bench svm --quick                         how fast it is, and against what
  mklviz warmup                                    compile everything now, so that no run waits for it later
  mklviz claims | datasets | losses | regularizers | solvers | scenarios
run, race, path, sweep, reproduce, runs and these lists write a document for programs with --json
"""

EXAMPLES = {
    "serve": """\
  mklviz serve
  mklviz serve --port 8080 --no-show
  mklviz serve --classroom                                 for everybody on the network, with a code
  mklviz serve --classroom --allow-websocket-origin lab.example.org:5006     under another name as well
  mklviz serve --classroom --shared-runs                   everybody sees all runs, and not their own alone
  mklviz serve --store /data/runs
  mklviz serve --lessons my-lessons                        with lessons of your own
  mklviz serve --prefix /lab/mkl                           behind a proxy that hands on whole paths
  mklviz serve --dask tcp://head:8786                      races are computed on a cluster
""",
    "desktop": """\
  mklviz desktop
  mklviz desktop runs.zip                                  a race that was saved
  mklviz desktop mine.csv                                  a table of your own
With pip install "mklviz[desktop]" there is such a window, else the browser opens.
""",
    "run": """\
  mklviz run --data ionosphere --solvers silp,level,spg
  mklviz run --data sonar --solvers level --solver-option level.lam=0.5 --gap 1e-4
  mklviz run --data mine.csv --kernels "gauss:2^-3...2^6@all+each poly:1...3@each" --C 10
  mklviz run --data mine.xlsx --target price --missing fill --loss squared
  mklviz run --data diabetes --loss epsilon-insensitive:epsilon=0.2 --C 1 --solvers spg
  mklviz run --data iris --loss multiclass-hinge --solvers level
  mklviz run --data heart --regularizer lp-penalty:p=1.5,sigma=1 --solvers spg,smo-mkl,closed-form
  mklviz run --data sonar --combination product --C 10
  mklviz run --scenario spg-parts --csv steps.csv --save runs.zip
  mklviz race --data ionosphere --html race.html
  mklviz run --data sonar --json | jq '.runs[0].gap'
  mklviz run --data sonar --store /scratch/runs
  mklviz run --data sonar --no-store
  mklviz run --data sonar --solvers spg --resume           go on from a run of these words that was cut off
  mklviz run --data big.parquet --kernels "gauss:1,2,4@all" --nystrom 200 --dask tcp://head:8786
""",
    "path": """\
  mklviz path --data ionosphere --vary C=1000:0.01:100 --output path.csv
  mklviz path --data liver --regularizer block-l1:lam=1 --solver spicymkl --vary lam
  mklviz path --data heart --regularizer lp-ball:p=2 --solver spg --vary p=4,2,1.5,1.2,1.1 --cold
""",
    "fit": """\
  mklviz fit mine.csv --target class --out model.skops
  mklviz predict model.skops new.csv --out predictions.csv
  mklviz fit mine.csv --loss logistic --test other.csv                  with the probability of each class
  mklviz fit prices.xlsx --target price --kernels "gauss:1,2,4@each linear" --C 10
  mklviz fit usual.csv --target nothing --loss one-class:nu=0.05        outliers: 1 inside, -1 outside
Where a table of new samples has the target, too, it is printed how many predictions are right.
""",
    "lab": """\
  mklviz lab --data ionosphere --knob level.lam --output lab.html
  mklviz lab --data sonar --solvers silp,level,spg --knob C=1000:0.1:9 --output lab.html
  mklviz lab --data heart --solvers level --knob level.lam=0.1,0.5,0.8 --knob C=1,10,100 --output lab.html
What has finished in the store is not repeated: after Ctrl-C, give the same words again.
""",
    "lessons": """\
  mklviz lessons export --format gift                      for Moodle
  mklviz lessons export --format qti --out course.zip      for Canvas and others
  mklviz lessons check my-lessons/far-jumps.md             a lesson of your own: what its answer comes out as
""",
    "page": "  mklviz page playground --out mkl.html\n",
    "gallery": "  mklviz gallery pages\n",
    "sweep": """\
  mklviz sweep "data=sonar,heart; split=0...19; solvers=silp,level,newton; C=1,10,100"
  mklviz sweep "data=wdbc; split=0...4; solvers=level:lam={0.3,0.5,0.7}" --csv results.csv
  mklviz sweep "data=vote; regularizer=simplex|lp-ball:p={1.5,2}; solvers=spg" --workers 4
  mklviz sweep "data=mine.csv; target=class; split=0...19; C=1,10,100"                 of a table of your own
  mklviz sweep "data=sonar,heart; split=0...19" --shard 3/20 --store /scratch/runs     one job of twenty
  mklviz sweep "data=sonar,heart; split=0...19" --dask tcp://head:8786
  mklviz sweep "data=sonar,heart; split=0...19" --dry-run                              what is left to do
What has finished in the store is not repeated: after Ctrl-C or a crash, give the same words again.
""",
    "reproduce": """\
  mklviz reproduce --quick                         all claims on small data and few splits, some minutes
  mklviz claims                                    their names, and what they say
  mklviz reproduce level-table-2-silp              20 splits of eight data sets
  mklviz reproduce --json > verdicts.json
What has finished in the store is not repeated: after Ctrl-C or a crash, give the same words again.
""",
    "runs": """\
  mklviz runs list --where "sonar solver:level gap<1e-3"
  mklviz runs show 3fa9c2d1
  mklviz runs resume 3fa9c2d1
  mklviz runs describe 3fa9c2d1 --name "first try" --tag thesis
  mklviz runs export thesis.zip --where tag:thesis
  mklviz runs import thesis.zip
  mklviz runs merge /media/cluster/runs
  mklviz runs delete 3fa9c2d1
  mklviz runs clean --limit-mb 500
""",
    "check": """\
  mklviz check my_solver.py
  mklviz check my_package.frank_wolfe
""",
    "bench": """\
  mklviz bench                                     everything, some minutes; Ctrl-C keeps what was measured
  mklviz bench svm --quick
  mklviz bench learn --json numbers.json
  mklviz bench screen --repeats 5
Some rivals are installed by: pip install mklviz[bench]
""",
    "warmup": "  mklviz warmup\n",
    "completion": """\
  mklviz completion bash > ~/.local/share/bash-completion/completions/mklviz
  mklviz completion zsh >> ~/.zshrc
  mklviz completion fish > ~/.config/fish/completions/mklviz.fish
""",
}
EXAMPLES["race"] = EXAMPLES["run"].replace("mklviz run", "mklviz race")
EXAMPLES["predict"] = EXAMPLES["fit"]
