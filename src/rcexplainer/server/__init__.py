"""A server that answers "what if" (extra `app`): a page and an HTTP API around one fitted explainer.

strangers → limits    (who may ask, how much at a time)
          → uploads   (JSON of a client becomes a graph, or a refusal in one sentence)
          → requests  (which instance, with which options)
          → batching  (concurrent requests share one run of the model)
          → answers   (the model and the explainer are run)
          → live_page (explanations on the page of `rc.viz.page`)
          → application (FastAPI)
"""
