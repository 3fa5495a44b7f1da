"""A task of a cluster, served by TensorFlow until the process is killed. Its first line is the address.

  python -m tests.programs.tensorflow_server CLUSTER JOB TASK
"""

import json
import sys

import tensorflow

server = tensorflow.distribute.Server(json.loads(sys.argv[1]), job_name=sys.argv[2], task_index=int(sys.argv[3]))
print("listening at " + server.target, flush=True)
server.join()
